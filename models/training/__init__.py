"""The training loop, the driver of a recipe, and a user's own data."""
