"""Benchmarks: how fast, how accurate, and how both compare with other programs, measured where they are run."""
