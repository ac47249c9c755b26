"""The lab of Transformer-XL: long texts are read segment by segment, and each segment remembers the
ones before it."""
