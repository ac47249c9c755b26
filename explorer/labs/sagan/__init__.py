"""The lab of the self-attention GAN: a generator and a discriminator whose cells look at each
other."""
