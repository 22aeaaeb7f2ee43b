"""Analyses of a model: vibration, linear models, warnings."""
