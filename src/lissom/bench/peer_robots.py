"""Robots of the library as other programs model them: undamped, with beams that have rotary inertia."""

import math
from typing import Any

from ..describe.robot import Robot

G = 9.81
# Gravity of the spatial double pendulum: 30 degrees out of the plane of motion.
INCLINED = [0.0, -G * math.cos(math.pi / 6), -G * math.sin(math.pi / 6)]


def pendulum(gravity: list[float], elements: int = 4) -> Robot:
    """The library's double pendulum undamped, with rotary inertia."""
    changes: dict[str, Any] = {
        "gravity": gravity,
        "damping": None,
        "links.*.beam.elements": elements,
    }
    robot = Robot.load("double-pendulum").replace(changes)
    return with_rotary_inertia(robot)


def with_rotary_inertia(robot: Robot) -> Robot:
    """The robot with beams as the peer's are: Timoshenko's, whose sections have inertia about their own axes."""
    beams = [link.name for link in robot.links if link.beam is not None]
    return robot.replace({f"links.{name}.beam.theory": "timoshenko" for name in beams})
