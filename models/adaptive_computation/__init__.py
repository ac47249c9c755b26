"""Code shared by the labs of adaptive computation time and the Universal Transformer."""
