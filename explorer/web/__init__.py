"""The ASGI application: routes, gate, bodies, static files, health, metrics, log."""
