"""Robots, references and step methods that every contract test runs over, and the small tools of these tests.

Adding an entry to a tuple buys it the whole list of checks. Compiling costs more than computing here, so compiled
functions live at module level, take the formulation as an argument, and are asked for everything at once.
"""

import functools
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compilation import QUICK
from lissom import Model, Robot
from lissom.bodies.link_body import body_of
from lissom.control.pd import PD
from lissom.dynamics.stiffening import shortening_of, with_square_coordinates
from lissom.dynamics.truncated import TruncatedScrews
from lissom.solve.signals import Table

DATA = Path(__file__).parent / "data"
LIBRARY = (
    "simple-pendulum",
    "double-pendulum",
    "spatial-double-pendulum",
    "anthropomorphic",
    "anthropomorphic-wrist",
    "dlr-arm",
)

# Nothing special: tilted axes, products of inertia, unequal sides, an L-shaped and a straight beam, every kind of
# joint.
MIXED = {
    "lissom": 1,
    "name": "mixed",
    "gravity": [1.3, -2.1, -9.2],
    "links": [
        {
            "name": "base",
            "joint": {
                "type": "revolute",
                "origin": {"xyz": [0.1, -0.2, 0.3], "rpy": [0.3, -0.5, 0.7]},
                "axis": [0.2, -0.3, 0.9],
                "motor": {"inertia": 2.3e-4, "ratio": 31.0},
                "friction": {"viscous": 0.31, "coulomb": 0.17, "width": 0.4},
            },
            "beam": {
                "path": [[0, 0, 0], [0.31, 0.08, -0.05], [0.35, 0.02, 0.27]],
                "section": {"shape": "rectangle", "y": 0.021, "z": 0.013},
                "up": [0.1, 0.9, 0.4],
                "material": {"E": 7.1e10, "nu": 0.31, "density": 2750},
                "elements": 1,
            },
            "masses": [{"node": 1, "mass": 0.23, "inertia": [3e-4, 2e-4, 4e-4]}],
            "damping": {"alpha": 0.9, "beta": 1.7e-4},
        },
        {
            "name": "slider",
            "joint": {
                "type": "prismatic",
                "origin": {"rpy": [-0.4, 0.2, 1.1]},
                "axis": [0.5, 0.8, -0.3],
                "friction": {"viscous": 2.3},
                "motor": {"inertia": 0.17},
            },
            "rigid": {
                "mass": 1.7,
                "com": [0.06, -0.02, 0.03],
                "inertia": [2.0e-3, 3.0e-3, 2.5e-3, 2e-4, -3e-4, 1e-4],
                "tip": [0.13, 0.04, -0.07],
            },
        },
        {
            "name": "boom",
            "joint": {"type": "fixed", "origin": {"rpy": [0.6, -0.9, 0.2]}},
            "beam": {
                "path": [[0, 0, 0], [0.1, 0.42, 0.05]],
                "section": {"shape": "tube", "outer": 0.022, "inner": 0.016},
                "material": {"E": 3.9e10, "nu": 0.28, "density": 1650},
                "elements": 2,
                "theory": "timoshenko",
            },
            "damping": {"ratio": 0.013},
        },
        {
            "name": "hand",
            "joint": {
                "type": "revolute",
                "origin": {"rpy": [0.2, 1.3, -0.8]},
                "axis": [-0.7, 0.2, 0.4],
            },
            "beam": {
                "path": [[0, 0, 0], [0.26, -0.03, 0.11]],
                "section": {"shape": "rectangle", "y": 0.009, "z": 0.015},
                "up": [0.3, 0.2, 1.0],
                "material": {"E": 2.1e11, "nu": 0.29, "density": 7800},
                "elements": 1,
                "mass": "lumped",
            },
        },
    ],
    "payload": {
        "mass": 0.41,
        "inertia": [4e-4, 6e-4, 5e-4, 1e-4, 5e-5, -6e-5],
        "offset": [0.02, 0.05, -0.03],
    },
}

# Other joints in another order, written with DH rows; as many links, joints and coordinates as `mixed`, so that both
# share compiled code.
CRANE = {
    "lissom": 1,
    "name": "crane",
    "gravity": [-0.7, 1.9, -8.8],
    "damping": {"alpha": 1.1, "beta": 2.3e-4},
    "links": [
        {
            "name": "rail",
            "joint": {"type": "prismatic", "dh": {"a": 0.11, "alpha": 0.7, "d": 0.23, "theta": 0.4}},
            "rigid": {"mass": 2.9, "com": [0.03, 0.05, 0.12], "inertia": [2.1e-2, 1.7e-2, 1.3e-2, 2e-3, -1e-3, 3e-3]},
        },
        {
            "name": "mast",
            "joint": {
                "type": "revolute",
                "dh": {"a": 0.37, "alpha": -1.2, "d": 0.0, "theta": -0.6},
                "motor": {"inertia": 1.3e-4, "ratio": 50.0},
                "friction": {"viscous": 0.8},
            },
            "beam": {
                "section": {"start": {"shape": "box", "y": 0.03, "z": 0.02, "wall": 0.002},
                            "end": {"shape": "box", "y": 0.02, "z": 0.016, "wall": 0.0015}},
                "material": {"E": 7.0e10, "nu": 0.33, "density": 2700},
                "elements": 2,
            },
        },
        {
            "name": "jib",
            "joint": {"type": "revolute", "dh": {"a": 0.29, "alpha": 0.5, "d": 0.14, "theta": 0.9}},
            "beam": {
                "section": {"shape": "general", "A": 2.1e-4, "Iy": 6.1e-9, "Iz": 2.9e-9, "J": 7.0e-9},
                "up": [0.3, 1.0, 0.4],
                "material": {"E": 1.1e11, "nu": 0.34, "density": 4430},
                "elements": 1,
                "theory": "timoshenko",
            },
            "masses": [{"node": "tip", "mass": 0.31, "inertia": [2e-4, 3e-4, 5e-4]}],
        },
        {
            "name": "hook",
            "joint": {"type": "fixed", "origin": {"rpy": [-0.3, 0.8, 0.5]}},
            "beam": {
                "path": [[0, 0, 0], [0.05, 0.19, -0.08]],
                "section": {"shape": "circle", "diameter": 0.011},
                "material": {"E": 2.0e11, "nu": 0.3, "density": 7840},
                "elements": 1,
            },
        },
    ],
    "payload": {"mass": 0.53, "offset": [0.0, 0.04, 0.02]},
}  # fmt: skip

# For each robot the zeroed displacements that define an ERLS in a generic pose.
ALL_ROBOTS = ("mixed", "crane")
ZEROED = {
    "mixed": ["base/tip.ry", "boom/0.y", "hand/tip.z"],
    "crane": ["mast/tip.z", "mast/tip.y", "hook/tip.rx"],
    "double-pendulum": ["upper/tip.y", "lower/0.rz"],
}
ALL_REFERENCES = ("tangent", "minimum-norm", "zeroed")
# Every way to model a robot that `model_named` knows beside the choices of the ERLS: the keywords of `Model`.
CHOICES = {
    "nonlinear": {"formulation": "nonlinear", "basis": "nodal"},
    "stiffened": {
        "formulation": "nonlinear",
        "basis": "nodal",
        "stiffening": "geometric",
    },
    "stiffened-erls": {
        "formulation": "erls-fem",
        "reference": "zeroed",
        "stiffening": "geometric",
    },
    # Few modes, so that links are truly reduced.
    "erls-cms": {"formulation": "erls-cms", "modes": 7},
    "erls-cms-published": {
        "formulation": "erls-cms",
        "modes": 7,
        "terms": "published",
    },
    "dual-screw": {"formulation": "dual-screw", "basis": "nodal"},
    "dual-screw-published": {
        "formulation": "dual-screw",
        "basis": "nodal",
        "terms": "published",
    },
    "own": {"formulation": "own"},  # tests/contracts/own_formulation.py
}
# Whose virtual work is complete: power put in is the rate of energy, whatever the motion.
EXACT_CHOICES = (
    *ALL_REFERENCES,
    "nonlinear",
    "stiffened",
    "erls-cms",
    "own",
)
# Screws that are the rates of the frames to first order only: Lagrange's equations, and what weight and wrenches do,
# hold to first order (tests/dynamics/test_dual_screw.py); energy is kept without weight.
SCREW_CHOICES = ("dual-screw",)
ALL_CHOICES = (*EXACT_CHOICES, *SCREW_CHOICES)
# Terms as papers print them: some are left out, and energy is not kept.
PUBLISHED_CHOICES = ("erls-cms-published", "dual-screw-published")
# One instance of every law, for a robot with two actuated joints.
ALL_LAWS = {
    "pd": lambda sample: PD(
        [31.0, 17.0],
        [1.9, 0.8],
        Table([0.0], [[0.3, -0.2]], after="hold"),
        None,
        sample,
    ),
}
ALL_STEPS = ("radau", "generalised-alpha", "dopri5", "dopri8", "tsit5")


@functools.cache
def quick_options() -> dict[str, Any]:
    """Those of `QUICK` that this version of XLA knows."""
    known = {}
    for name, value in QUICK.items():
        try:
            jax.jit(lambda: 0).lower().compile(compiler_options={name: value})
        except jax.errors.JaxRuntimeError:
            continue
        known[name] = value
    return known


def compiled_once(function):
    """`jax.jit` for functions that run a few times only: quick to compile, the arithmetic unchanged."""

    @functools.cache
    def compiled():
        return jax.jit(function, compiler_options=quick_options())

    @functools.wraps(function)
    def call(*args, **kwargs):
        return compiled()(*args, **kwargs)

    return call


@functools.cache
def robot_named(name: str) -> Robot:
    """A robot of these tests, or of the library."""
    own = {"mixed": MIXED, "crane": CRANE}
    return Robot.from_dict(own[name]) if name in own else Robot.load(name)


@functools.cache
def model_named(
    name: str, reference: str = "tangent", terms: str = "consistent"
) -> Model:
    """A robot with one of `ALL_REFERENCES`, or one of `CHOICES`."""
    erls = {"formulation": "erls-fem", "reference": reference, "terms": terms}
    choices = CHOICES.get(reference, erls)
    if "reference" in choices:
        zeroed = reference_named(name, choices["reference"])
        choices = choices | {"reference": zeroed}
    return Model(robot_named(name), **choices)


def bodies_of(model: Model):
    """Bodies of a model's links, counted from their inner nodes."""
    bodies = model.bodies
    slots = max(body.coordinates for body in bodies) - 6
    return (
        [with_square_coordinates(body, shortening_of(body), slots) for body in bodies]
        if model.choices.stiffening == "geometric"
        else bodies
    )


def reference_named(name: str, reference: str):
    """One of `ALL_REFERENCES` as a scenario writes it."""
    return {"zeroed": ZEROED[name]} if reference == "zeroed" else reference


def conservative(formulation):
    """The same robot without damping and friction; shares compiled code with the original."""

    def parts(f):
        own = (f.links.damping, f.joints.viscous, f.joints.coulomb)
        if isinstance(f.equations, TruncatedScrews):
            own = (*own, f.equations.links.damping, f.equations.links.alpha)
        # Robots without a mass coefficient have None there.
        return tuple(part for part in (*own, f.links.alpha) if part is not None)

    return eqx.tree_at(
        parts, formulation, tuple(0.0 * part for part in parts(formulation))
    )


def weightless(formulation):
    """The same robot without gravity; shares compiled code with the original."""
    return eqx.tree_at(lambda f: f.gravity, formulation, 0.0 * formulation.gravity)


def motion_of(formulation, seed: int = 0, bend: float = 1e-3, speed: float = 0.7):
    """A generic motion (x, xd, xdd): joints by about one, elastic displacements by about `bend` metres and radians."""
    random = np.random.default_rng(seed)
    j, d = formulation.n_joints, formulation.n_elastic

    def draw(size):
        return random.uniform(0.3, 1.0, size) * random.choice([-1.0, 1.0], size)

    parts = [
        (draw(j), bend * draw(d)),
        (speed * draw(j), 30 * bend * draw(d)),
        (3.0 * draw(j), 900 * bend * draw(d)),
    ]
    return tuple(jnp.asarray(np.concatenate(part)) for part in parts)


def rigid_robot(robot: Robot) -> Robot:
    """The same robot with every link rigid: same mass, centre and inertia, payload and lumped masses included."""
    data = robot.to_dict()
    for i, link in enumerate(data["links"]):
        body = body_of(robot, i)
        mass, centre = float(body.total_mass), np.asarray(body.centre)
        lever = mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        about_centre = np.asarray(body.inertia) - lever
        tip = np.asarray(body.points[-1])
        for key in ("beam", "masses", "damping"):
            link.pop(key, None)
        inertia = 0.5 * (about_centre + about_centre.T)
        link["rigid"] = {
            "mass": mass,
            "com": centre.tolist(),
            "inertia": inertia.tolist(),
            "tip": tip.tolist(),
        }
    for key in ("payload", "damping"):
        data.pop(key, None)
    return Robot.from_dict(data)


def homogeneous(R, p):
    """4 x 4 matrix of a rotation and a position."""
    return np.block(
        [[np.asarray(R), np.asarray(p)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]
    )


def cross_matrix(w):
    """(w x), written out once more so that the tests do not lean on the code they test."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(T, T_d):
    """Body twist (v, w) from a homogeneous matrix and its rate: T^-1 Tdot."""
    W = np.linalg.solve(T, T_d)
    return np.array([W[0, 3], W[1, 3], W[2, 3], W[2, 1], W[0, 2], W[1, 0]])


def relative(value, reference):
    """Largest difference, against the largest reference value."""
    value, reference = np.asarray(value), np.asarray(reference)
    return np.abs(value - reference).max() / (np.abs(reference).max() + 1e-300)


def observed_order(errors, ratio=2):
    """Order between successive step sizes, each `ratio` times smaller than the one before."""
    return np.log(np.array(errors[:-1]) / np.array(errors[1:])) / np.log(ratio)
