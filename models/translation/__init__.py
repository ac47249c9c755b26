"""The Transformer of Vaswani et al. (2017), trained to translate English captions into German."""
