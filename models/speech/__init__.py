"""Spoken digits, recognised by truncated self-attention and connectionist temporal
classification."""
