"""The training laboratory: twins that are trained live, and what tells them apart."""
