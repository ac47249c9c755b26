"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&paper=7"
NEW = "v=1&task=own&graph=a%2C+b%0Ab%2C+d"
LOOKS = {"_head": "99.99", "_pos": "99999"}  # what a link may name and is not there
NONSENSE = ("task=sort", "sort")  # a field that is refused, and what the refusal names
