"""The Universal Transformer: one block over depth, and every position stops by itself."""
