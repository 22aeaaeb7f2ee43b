"""Traced JAX programs as machine code (LLVM) and as C: see README.md in this folder."""

__version__ = "0.1.0.dev0"
