"""The lab of an agent with a memory: a gated Transformer-XL that must remember a signal."""
