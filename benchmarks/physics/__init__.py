"""Figures of the documentation, drawn from our runs."""
