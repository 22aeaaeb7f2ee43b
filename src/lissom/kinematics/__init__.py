"""Geometry of the chain: frames, velocities, compatibility at the joints. No masses."""
