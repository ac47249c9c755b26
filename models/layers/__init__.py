"""Equations that two labs or more share."""
