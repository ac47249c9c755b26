"""Transformer-XL on characters of books: segments, a memory of the segments before, and positions told by distance (Dai et al., 2019)."""
