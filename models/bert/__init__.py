"""BERT: an encoder alone that reads a text from both sides, and what it says of words that are hidden."""
