"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&sentence=A+dog+sits."
NEW = "v=1&sentence=A+cat+sits."
LOOKS = {"_head": "99.99", "_row": "1e9"}  # what a link may name and is not there
NONSENSE = ("variant=cosine", "cosine")  # a field that is refused, and what the refusal names
