"""Runs: where descriptions, models and control laws meet, how a run starts, and what comes out of it."""
