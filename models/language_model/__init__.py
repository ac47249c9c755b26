"""The language model: a decoder that reads a text and predicts what comes next."""
