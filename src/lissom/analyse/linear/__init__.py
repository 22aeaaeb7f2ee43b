"""Linear models: state space about a point, along a motion, over frequency."""
