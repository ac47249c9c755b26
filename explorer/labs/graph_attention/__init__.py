"""The lab of attention on graphs: neighbours, dictionaries, and distances in a graph."""
