"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&length=4&width=16&batch=4&steps=20&seed=51"
NEW = "v=1&length=4&width=16&batch=4&steps=20&seed=53"
LOOKS = {"_frame": "99999", "_cell": "99999", "_head": "9.9"}  # what a link names and is not there
NONSENSE = ("change=77", "77")  # a field that is refused, and what the refusal names
