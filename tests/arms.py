"""Arms of the dual-screw and nonlinear tests: the 4-dof arm of [Cibicik2021] Table I, and a 6-dof one."""

import functools
import math

from lissom import Robot

TUBE = {
    "section": {"shape": "tube", "outer": 0.05, "inner": 0.04},
    "material": {"E": 210e9, "nu": 210 / 161.6 - 1, "density": 7850},
    "up": [0, 0, 1],
    "elements": 4,
}

ARM4 = {
    "lissom": 1,
    "name": "arm-4",
    "links": [
        {
            "name": "base",
            "joint": {"type": "revolute"},
            "rigid": {
                "mass": 15.5,
                "com": [0, 0, 0.131],
                "inertia": [18586e-6, 18586e-6, 18586e-6],
                "tip": [0, 0, 0.26],
            },
        },
        {
            "name": "boom",
            "joint": {
                "type": "revolute",
                "origin": {"rpy": [-math.pi / 2, -math.pi / 2, 0]},
            },
            "beam": {"path": [[0, 0, 0], [2.0, 0, 0]], **TUBE},
        },
        {
            "name": "jib",
            "joint": {"type": "revolute", "origin": {"rpy": [0, 0, 0]}},
            "beam": {"path": [[0, 0, 0], [1.8, 0, 0]], **TUBE},
        },
        {
            "name": "hand",
            "joint": {"type": "revolute", "origin": {"rpy": [0, 0, 0]}},
            "rigid": {
                "mass": 3.56,
                "com": [0.124, 0, 0],
                "inertia": [1533e-6, 17386e-6, 17035e-6],
                "tip": [0.24, 0, 0],
            },
        },
    ],
}


def _slim(length, y, z, up):
    return {
        "path": [[0, 0, 0], [length, 0, 0]],
        "section": {"shape": "rectangle", "y": y, "z": z},
        "material": {"E": 7.1e10, "nu": 0.31, "density": 2750},
        "up": up,
        "elements": 2,
    }


# Rigid and elastic links in mixed order, every kind of joint, tilted axes, motors, friction, damping, a payload: six
# moving joints, three elastic links.
ARM6 = {
    "lissom": 1,
    "name": "arm-6",
    "gravity": [1.1, -0.8, -9.5],
    "damping": {"alpha": 0.7, "beta": 1.3e-4},
    "links": [
        {
            "name": "pillar",
            "joint": {"type": "revolute", "axis": [0.1, -0.2, 0.9], "origin": {"rpy": [0.2, 0.1, -0.4]},
                      "motor": {"inertia": 2e-4, "ratio": 30.0},
                      "friction": {"viscous": 0.3, "coulomb": 0.2, "width": 0.3}},
            "rigid": {"mass": 6.0, "com": [0.02, -0.01, 0.1], "inertia": [0.05, 0.04, 0.03, 1e-3, -2e-3, 3e-3],
                      "tip": [0.03, 0.05, 0.3]},
        },
        {
            "name": "upper",
            "joint": {"type": "revolute", "origin": {"rpy": [-1.4, -0.3, 0.2]}, "axis": [0.3, 0.1, 1.0]},
            "beam": _slim(0.9, 0.03, 0.02, [0.1, 0.3, 1.0]),
        },
        {
            "name": "slide",
            "joint": {"type": "prismatic", "origin": {"rpy": [0.4, 0.9, -0.3]}, "axis": [1.0, 0.4, -0.2],
                      "motor": {"inertia": 0.4}},
            "rigid": {"mass": 0.8, "com": [0.03, 0.02, -0.01], "inertia": [2e-3, 3e-3, 2.5e-3],
                      "tip": [0.06, 0.02, 0.01]},
        },
        {
            "name": "fore",
            "joint": {"type": "revolute", "origin": {"rpy": [0.7, -0.5, 0.3]}, "axis": [0.0, 1.0, 0.3],
                      "friction": {"viscous": 0.1}},
            "beam": _slim(0.7, 0.02, 0.025, [0.0, 0.2, 1.0]),
            "masses": [{"node": 1, "mass": 0.2, "inertia": [1e-4, 2e-4, 3e-4]}],
        },
        {
            "name": "elbow",
            "joint": {"type": "fixed", "origin": {"rpy": [0.3, 0.8, 0.1]}},
            "rigid": {"mass": 0.3, "com": [0.02, 0.0, 0.01], "inertia": [1e-4, 2e-4, 2e-4], "tip": [0.05, 0.0, 0.03]},
        },
        {
            "name": "wrist",
            "joint": {"type": "revolute", "origin": {"rpy": [-0.2, 0.4, 1.0]}, "axis": [0.5, -0.1, 0.8]},
            "rigid": {"mass": 0.5, "com": [0.01, 0.03, 0.0], "inertia": [4e-4, 3e-4, 2e-4], "tip": [0.02, 0.06, 0.01]},
        },
        {
            "name": "finger",
            "joint": {"type": "revolute", "origin": {"rpy": [0.6, 0.2, -0.7]}, "axis": [0.2, 0.9, 0.3]},
            "beam": {
                "path": [[0, 0, 0], [0.25, 0.02, 0.0], [0.3, 0.1, 0.05]],
                "section": {"shape": "tube", "outer": 0.014, "inner": 0.01},
                "material": {"E": 7.1e10, "nu": 0.31, "density": 2750},
                "elements": 1,
                "theory": "timoshenko",
            },
            "damping": {"ratio": 0.02},
        },
    ],
    "payload": {"mass": 0.4, "inertia": [3e-4, 4e-4, 5e-4], "offset": [0.01, 0.02, -0.01]},
}  # fmt: skip


@functools.cache
def arm(name: str) -> Robot:
    """One of the arms."""
    return Robot.from_dict({"arm-4": ARM4, "arm-6": ARM6}[name])
