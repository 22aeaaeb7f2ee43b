"""Benchmarks of times and known numbers: run by `lissom bench`, imported by nothing else in the package."""
