"""A small encoder that writes digits backwards: the start of a new lab."""
