"""Facts about this lab for the contract tests."""

SMALL = "v=1&text=2718"  # a small input that is neither an example nor a step, and another one
NEW = "v=1&text=8281"
LOOKS = {"_head": "99.99", "_row": "1e9"}  # places that a link may name and that do not exist
NONSENSE = ("text=x", "x")  # a field that is refused, and a word of the refusal
