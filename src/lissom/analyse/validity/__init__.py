"""Doubts about a description and about results: what lies outside of what a model, a material or a machine holds."""
