"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&scene=1,4.1.30.30.30.1"
NEW = "v=1&scene=1,9.2.30.30.30.1"
LOOKS = {"_head": "99.99", "_query": "1e9", "_after": "99"}  # what a link may name and is not there
NONSENSE = ("queries=99", "99")  # a field that is refused, and what the refusal names
