"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&length=3&below=A&seed=51"
NEW = "v=1&length=3&below=B&seed=52"
# what a link may name and is not there
LOOKS = {"_head": "99.99", "_step": "999", "_gate": "9z", "_switch": "none", "_cell": "999"}
NONSENSE = ("length=1", "length")  # a field that is refused, and what the refusal names
