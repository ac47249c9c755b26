"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&text=The+sea.&length=2&seed=51"
NEW = "v=1&text=The+sky.&length=2&seed=52"
LOOKS = {"_head": "99.99", "_pos": "99999"}  # what a link may name and is not there
NONSENSE = ("length=x", "length")  # a field that is refused, and what the refusal names
