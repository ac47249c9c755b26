"""Transformer-XL on characters of books: segments, a memory of earlier segments, and relative
positions (Dai et al., 2019)."""
