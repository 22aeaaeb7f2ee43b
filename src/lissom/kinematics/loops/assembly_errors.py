"""Errors of loops that cannot be closed."""

from ...describe.robot import Robot


class AssemblyError(ValueError):
    """Loops that cannot be closed, or closing joints that hold more than they can."""


def loop_names(robot: Robot) -> str:
    """The loops of a robot in words."""
    names = [f"the loop of link {loop.link!r} to {loop.to!r}" for loop in robot.loops]
    return " and ".join(names)
