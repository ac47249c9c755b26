"""The page of recurrent translation, with attention and without."""
