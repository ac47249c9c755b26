"""Training data: corpora, vocabularies, windows, splits."""
