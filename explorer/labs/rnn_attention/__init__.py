"""The lab of recurrent translation, with attention and without."""
