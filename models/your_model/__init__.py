"""A user's own model: a folder, or a revision on the Hub, of a BERT-, GPT-2- or T5-shaped model of
transformers."""
