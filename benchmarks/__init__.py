"""The speed claims of README.md, each measured beside its peers in one run: `python -m benchmarks
NAME`."""
