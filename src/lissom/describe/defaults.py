"""What options are where nothing is said: one number for Python, the command line, requests and the studio."""

SHOWN_MODES = 10  # of an analysis of modes, lowest first
FOLLOWED_MODES = 6  # of a map of modes, on a grid or as polynomials
