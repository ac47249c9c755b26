"""What the contract tests have to know of this lab."""

SMALL = "v=1&sentence=A+dog+sits+on+the+grass.&hidden=2"  # a small input that is neither an example nor a step, and another one
NEW = "v=1&sentence=A+cat+sits+on+the+grass.&hidden=2"
LOOKS = {"_head": "99.99", "_pos": "99999"}  # what a link may name and is not there
NONSENSE = ("sides=above", "above")  # a field that is refused, and what the refusal names
