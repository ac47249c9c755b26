"""The lab of adaptive attention span: each head learns how far back it needs to look."""
