"""The lab of truncated self-attention: a recogniser of spoken numbers that hears a window of sound
and writes while one speaks."""
