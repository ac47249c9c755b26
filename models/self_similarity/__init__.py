"""Self-similarity in pictures: non-local means, texture synthesis, the non-local block."""
