"""The lab of BERT: hidden words guessed from both sides, and what the heads of an encoder find."""
