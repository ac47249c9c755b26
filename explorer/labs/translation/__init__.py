"""The translation lab: an English sentence becomes German, with every head in view."""
