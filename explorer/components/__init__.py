"""The pieces of every lab page: one Python file and one JavaScript module each."""
