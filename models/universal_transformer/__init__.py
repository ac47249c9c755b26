"""The Universal Transformer: one block over depth, in which each position stops by itself."""
