"""Trained networks on disk: where they lie, how they are read and written, and the device they run
on."""
