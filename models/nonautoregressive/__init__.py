"""Translation without an order of words: all pieces at once, and again where they are least sure (Mask-Predict, Ghazvininejad 2019)."""
