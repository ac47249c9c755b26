"""The lab of the language model: a decoder alone that reads a text and predicts the next symbol."""
