"""Adaptive computation time: a recurrent network that decides how long it thinks about each input."""
