"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&sentence=A+dog+sits+on+the+grass."
NEW = "v=1&sentence=A+cat+sits+on+the+grass."
LOOKS = {"_head": "99.99", "_pos": "99999"}  # what a link may name and is not there
NONSENSE = ("passes=99", "99")  # a field that is refused, and what the refusal names
