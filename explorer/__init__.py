"""What the visitor sees: pages, widgets, figures, and the server that carries them."""
