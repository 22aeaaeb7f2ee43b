"""Pure mathematics: rotations, twists, interpolation. Knows no robot."""
