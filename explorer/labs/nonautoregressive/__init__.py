"""The page of non-autoregressive translation: all pieces at once, again where they are least sure."""
