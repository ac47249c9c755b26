"""A self-attention generative adversarial network on 32 × 32 pictures (Zhang et al., 2019)."""
