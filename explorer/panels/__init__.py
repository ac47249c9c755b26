"""Panels that several labs share."""
