"""The lab of a user's own model: it stands on the site only where app.py was started with
--model."""
