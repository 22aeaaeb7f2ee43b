"""Equations of motion: every formulation through one engine."""
