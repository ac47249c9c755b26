"""What is computed: the networks of the Transformer family, how they are trained, and what they show of themselves."""
