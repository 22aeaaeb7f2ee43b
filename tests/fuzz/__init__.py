"""Permanent fuzzing: `make fuzz` runs it, `CONTRIBUTING.md` says how."""
