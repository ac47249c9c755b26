"""Small encoders that are trained side by side, and the techniques of training that tell them
apart."""
