"""The cost of layers over sequences, on paper and in measured time, and the parts of attention
itself.

Nothing here is trained.
"""
