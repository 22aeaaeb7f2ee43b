"""Warnings about descriptions and results: numbers outside of what a model, a material or a machine allows."""
