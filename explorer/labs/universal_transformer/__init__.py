"""The lab of the Universal Transformer: one block, used until each position has thought enough."""
