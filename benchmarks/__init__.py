"""Measurements that are no part of the package: `python -m benchmarks --help`, from the root of the repository."""
