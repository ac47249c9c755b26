"""The lab of the Reformer: attention by hashing, in reversible layers (Kitaev et al., 2020)."""
