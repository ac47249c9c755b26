"""What the contract tests have to know of this lab."""

# a small input that is neither an example nor a step, and another one
SMALL = "v=1&text=A+dog+sits+on+the+grass.&hidden=1"
NEW = "v=1&text=A+cat+sits+on+the+grass.&hidden=1"
LOOKS = {"_head": "99.99", "_pos": "99999"}  # what a link may name and is not there
NONSENSE = ("side=above", "above")  # a field that is refused, and what the refusal names
