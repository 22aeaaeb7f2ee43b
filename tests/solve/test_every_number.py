"""Every real number of a robot file can be differentiated: the schema is walked, field by field."""

import typing

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.files.part import Part
from lissom.files.quantity import Numbers, Quantity

STEEL = {"E": 2e11, "nu": 0.3, "density": 7800.0}
DH = {"a": 0.5, "alpha": 0.1, "d": 0.02, "theta": 0.3}
STOP = {"stiffness": 1e4, "damping": 2.0}


def beam(section, **more):
    return {"section": section, "material": dict(STEEL), "elements": 1} | more


def turning(**more):
    return {"type": "revolute", "origin": {}} | more


CHAIN = {
    "name": "chain",
    "gravity": [0.1, -9.81, 0.2],
    "damping": {"ratio": 0.02},
    "payload": {
        "mass": 0.3,
        "inertia": [0.01, 0.02, 0.03],
        "offset": [0.01, 0.02, 0.0],
    },
    "links": [
        {
            "name": "a",
            "joint": {
                "type": "revolute",
                "dh": DH,
                "motor": {"inertia": 0.01, "ratio": 3.0},
                "friction": {"viscous": 0.1, "coulomb": 0.2, "width": 0.05},
                "limits": {"torque": 30.0, "position": [-2.0, 2.0], "stop": STOP},
            },
            "beam": beam({"shape": "box", "y": 0.03, "z": 0.02, "wall": 0.002}),
            "masses": [
                {
                    "node": 1,
                    "mass": 0.2,
                    "inertia": [0.01, 0.01, 0.02],
                    "offset": [0.01, 0.02, 0.03],
                }
            ],
        },
        {
            "name": "b",
            "joint": turning(origin={"xyz": [0.5, 0.0, 0.02], "rpy": [0.1, 0.2, 0.3]}),
            "damping": {"alpha": 0.4, "beta": 1e-4},
            "beam": beam(
                {
                    "start": {"shape": "tube", "outer": 0.03, "inner": 0.02},
                    "end": {"shape": "tube", "outer": 0.02, "inner": 0.01},
                },
                path=[[0, 0, 0], [0.3, 0.1, 0]],
                up=[0, 0.1, 1],
                theory="timoshenko",
            ),
        },
        {
            "name": "c",
            "joint": turning(
                axis=[0.1, 0.2, 1.0],
                follows={"joint": "a", "ratio": -0.5, "offset": 0.2},
            ),
            "rigid": {
                "mass": 0.4,
                "com": [0.1, 0.01, 0.02],
                "inertia": [0.01, 0.02, 0.025],
                "tip": [0.2, 0.0, 0.0],
            },
        },
    ],
}
GENERAL = {"shape": "general", "A": 4e-4, "Iy": 2e-8, "Iz": 3e-8, "J": 1e-8}
SHAPES = {
    "name": "shapes",
    "links": [
        {
            "name": name,
            "joint": turning(axis=[0, 0, 1]),
            "beam": beam(section, path=[[0, 0, 0], [0.3, 0, 0]], theory="timoshenko"),
        }
        for name, section in {
            "rectangle": {"shape": "rectangle", "y": 0.01, "z": 0.02},
            "circle": {"shape": "circle", "diameter": 0.02},
            "general": GENERAL | {"kappa_y": 0.8, "kappa_z": 0.7},
        }.items()
    ],
}
# Where loops close is found by iterations on plain numbers, before anything is traced; links of finite elements are
# arrays from a file.
OUTSIDE = {("Loop", "at"), ("Loop", "axis"), ("Loop", "rpy"), ("FE", "rpy")}
# A limit that results are held against: no equation has it.
OUTSIDE |= {("Material", "yield_stress")}


def mentions(annotation, kind):
    """All parts of an annotation that are of a kind, or are classes below it."""
    inner = [
        part for arg in typing.get_args(annotation) for part in mentions(arg, kind)
    ]
    is_class = isinstance(annotation, type) and issubclass(annotation, kind)
    return [annotation, *inner] if is_class or isinstance(annotation, kind) else inner


def is_real(field):
    return bool(
        [m for m in field.metadata if isinstance(m, Quantity | Numbers)]
        or mentions(field.annotation, (Quantity, Numbers))
    )


def schema(part, seen=()):
    """(class, field) of every real number below a part of the schema."""
    found = set()
    for name, field in part.model_fields.items():
        if is_real(field):
            found.add((part.__name__, name))
        for below in mentions(field.annotation, Part):
            if below not in seen:
                found |= schema(below, (*seen, part))
    return found


def numbers(part, path=""):
    """Path, (class, field) and value of every real number that a description holds."""
    for name, field in type(part).model_fields.items():
        if name not in part.model_fields_set:
            continue
        value = getattr(part, name)
        here = f"{path}.{name}" if path else name
        if isinstance(value, Part):
            yield from numbers(value, here)
        elif is_real(field) and value is not None:
            yield here, (type(part).__name__, name), value
        elif isinstance(value, tuple):
            for k, entry in enumerate(value):
                if isinstance(entry, Part):
                    yield from numbers(entry, f"{here}.{k}")


ROBOTS = [ls.Robot.from_dict(data) for data in (CHAIN, SHAPES)]
PLACES = [(robot, *place) for robot in ROBOTS for place in numbers(robot)]
OFTEN = ("damping.ratio", "links.1.damping.beta", "payload.mass", "payload.offset")


def leaves_of(robot, formulation="erls-fem"):
    model = ls.Model(robot, formulation)
    return [leaf for leaf in jax.tree.leaves(model.formulation) if np.ndim(leaf)]


def test_the_examples_hold_every_real_number_of_the_schema():
    held = {field for _, _, field, _ in PLACES}
    missing = schema(ls.Robot) - held - OUTSIDE - {("Robot", "assembly")}
    assert not missing


@pytest.mark.parametrize(
    ("robot", "path", "field", "value"),
    [
        pytest.param(*place, marks=[] if place[1] in OFTEN else pytest.mark.slow)
        for place in PLACES
    ],
    ids=[f"{place[0].name}-{place[1]}" for place in PLACES],
)
def test_a_number_may_be_traced_alone(robot, path, field, value):
    # Alone: a namespace that forgets about one number is not saved by another one that is traced too.
    shape = jax.ShapeDtypeStruct(np.shape(value), float)
    jax.eval_shape(lambda traced: leaves_of(robot.replace({path: traced})), shape)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_derivatives_of_a_model_agree_with_differences(robot):
    # Nodal coordinates: round sections bend alike in all planes, and modes in them are not unique.
    # Along one direction through all numbers; differences of fourth order leave 1e-9 of truncation.
    places = [(path, np.asarray(value, float)) for path, _, value in numbers(robot)]
    rng = np.random.default_rng(2)
    # A joint sits on its parent's tip: what places the one and what places the other grow alike.
    ways = [
        np.full(np.shape(value), 0.7)
        if path.endswith(("dh.a", "dh.d", "origin.xyz"))
        else rng.uniform(0.5, 1.0, np.shape(value))
        for path, value in places
    ]

    def leaves(s):
        changes = {
            path: value * (1 + s * way)
            for (path, value), way in zip(places, ways, strict=True)
        }
        return leaves_of(robot.replace(changes))

    _, slopes = jax.jvp(leaves, (jnp.zeros(()),), (jnp.ones(()),))
    h = 1e-3
    at = [[np.asarray(leaf) for leaf in leaves(k * h)] for k in (-2, -1, 1, 2)]
    for slope, a, b, c, d in zip(slopes, *at, strict=True):
        if np.issubdtype(a.dtype, np.floating) and np.all(np.isfinite(a)):
            difference = (8 * (c - b) - (d - a)) / (12 * h)
            scale = np.abs(difference).max() + 1e-9 * np.abs(a).max(initial=0.0)
            assert_allclose(slope, difference, atol=1e-6 * scale + 1e-12)
