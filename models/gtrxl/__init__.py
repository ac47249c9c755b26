"""An agent with a memory: the gated Transformer-XL in a corridor whose signal it must remember."""
