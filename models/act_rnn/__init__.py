"""Adaptive computation time in a recurrent network: parity, and addition digit by digit."""
