"""What layers over sequences cost, on paper and by the clock, and what attention itself is made of. Nothing here is trained."""
