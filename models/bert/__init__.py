"""BERT: an encoder that reads a text from both sides and predicts hidden words."""
