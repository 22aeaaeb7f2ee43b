"""Scenarios made ready: where descriptions, models and control laws meet."""
