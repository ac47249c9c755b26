"""The start of a new lab: digits written backwards."""
