"""The lab of non-autoregressive translation: all pieces at once, then again where they are least
sure."""
