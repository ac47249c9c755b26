"""The parts of every lab page: the program that answers it, its views, its stored and rendered
results."""
