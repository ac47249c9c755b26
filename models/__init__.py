"""The networks of the Transformer family, their training, and the traces that explain them."""
