"""The lab of self-similarity."""
