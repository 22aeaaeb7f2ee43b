"""Benchmarks: how fast, how accurate, and how both compare with other programs, measured where the command is run."""

from .command import register as register
