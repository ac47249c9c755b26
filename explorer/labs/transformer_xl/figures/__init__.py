"""Figures that only this lab has: arrays in, plain JSON out."""
