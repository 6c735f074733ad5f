"""Odd inputs to every public call, and what each raises: `python -m benchmarks.odd_inputs`."""
