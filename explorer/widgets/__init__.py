"""The pieces that every lab page is built from: one Python file and one JavaScript module each."""
