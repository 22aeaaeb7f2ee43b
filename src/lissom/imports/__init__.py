"""Robots of other programs: URDF and MJCF files as the plain data of a robot file."""
