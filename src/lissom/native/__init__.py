"""Machine code and C from traced JAX functions: pure mathematics, no robot."""
