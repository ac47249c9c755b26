"""The page of the detector."""
