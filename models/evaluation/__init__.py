"""Held-out figures: bits per character, polarity of sentences."""
