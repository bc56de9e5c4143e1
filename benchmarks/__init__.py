"""How long runs take beside other ways to run the same work: `python -m benchmarks` from the root of the repository."""
