"""Attention over the neighbours in a graph, and relative attention by the distance in a graph."""
