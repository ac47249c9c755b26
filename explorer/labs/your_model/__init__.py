"""The lab of a model that somebody brings along: it stands on the site only where app.py was started with --model."""
