"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&kind=4&seed=51"
NEW = "v=1&kind=4&seed=53"
LOOKS = {"_pos": "99999", "_strip": "nowhere"}  # what a link may name and is not there
NONSENSE = ("kind=77", "77")  # a field that is refused, and what the refusal names
