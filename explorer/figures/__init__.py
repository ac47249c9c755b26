"""Arrays and labels in, pictures out: one file per kind of picture, and one theme for all of them."""
