"""Functions from arrays and labels to pictures: one file per kind of picture, and one theme for all
of them."""
