"""A recurrent encoder and decoder that translate English captions into German, with attention
(Bahdanau et al., 2015) and without."""
