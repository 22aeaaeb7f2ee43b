"""Eigenpairs as polynomials of pose, speed and parameters, [Palomba2019]."""
