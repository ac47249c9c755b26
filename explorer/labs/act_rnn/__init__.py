"""The lab of adaptive computation time: a recurrent network that decides how many steps it computes
on each input."""
