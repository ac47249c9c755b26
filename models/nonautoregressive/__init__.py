"""Translation without an order of words: all pieces at once, then again the least certain ones
(Mask-Predict, Ghazvininejad 2019)."""
