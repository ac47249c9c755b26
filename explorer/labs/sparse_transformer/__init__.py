"""The lab of sparse factorised attention."""
