"""Adaptive attention span (Sukhbaatar et al., 2019): each head learns how far back it reads."""
