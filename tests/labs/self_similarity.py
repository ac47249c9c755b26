"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&picture=test:2&seed=5"
NEW = "v=1&picture=test:1&seed=6"
LOOKS = {"_pixel": "999,2", "_part": "99.1"}  # what a link may name and is not there
NONSENSE = ("task=paint", "paint")  # a field that is refused, and what the refusal names
