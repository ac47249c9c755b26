"""Reformer (Kitaev et al., 2020): attention by locality-sensitive hashing, reversible layers and a
feed-forward network in chunks."""
