"""Networks that several labs build on: encoder, decoder, encoder-decoder."""
