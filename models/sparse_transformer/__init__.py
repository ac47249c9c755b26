"""Sparse Transformer (Child et al., 2019): strided and fixed patterns of attention beside a dense
one, on digits and on books."""
