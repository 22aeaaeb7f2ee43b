"""Run times, and what they depend on."""
