"""Step-by-step decoding: beam search, sampling, translation search."""
