"""Closed chains: loops and how they close, assembly, and which joints are coordinates."""
