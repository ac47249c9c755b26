"""Music Transformer (Huang et al., 2018), a Transformer without relative positions and a
Performance RNN (Simon and Oore, 2017)."""
