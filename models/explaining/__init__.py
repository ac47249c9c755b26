"""Record and explain what a model did: the trace, the fields of a request, batches of requests,
records and stored results."""
