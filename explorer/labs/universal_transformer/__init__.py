"""The lab of the Universal Transformer: one block, applied until each position halts."""
