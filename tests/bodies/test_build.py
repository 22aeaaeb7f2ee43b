"""Bodies of the links of a described robot."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.bodies.body import with_mass
from lissom.bodies.damping import with_modal_ratio
from lissom.bodies.link_body import body_of
from lissom.bodies.mesh import beam_body
from lissom.bodies.rigid_body import rigid_body
from lissom.describe.robot import Robot
from lissom.describe.section import Rectangle, section_values

from .helpers import clamped, frequencies, tip_deflection

MATERIAL = {"E": 7.1e10, "nu": 0.31, "density": 2750.0}
RECTANGLE = {"shape": "rectangle", "y": 0.03, "z": 0.012}
TAPER = {"start": RECTANGLE, "end": {"shape": "rectangle", "y": 0.02, "z": 0.006}}
PAYLOAD = {"mass": 0.4, "inertia": [1e-3, 2e-3, 3e-3], "offset": [0.0, 0.05, 0.0]}


def robot(**changes):
    """Three links: a beam with a lumped mass, a rigid one, a tapered beam with the payload."""
    links = [
        {
            "name": "upper",
            "joint": {"type": "revolute", "dh": {"a": 0.5, "d": 0.2}},
            "beam": {"section": RECTANGLE, "material": MATERIAL, "elements": 3},
            "masses": [
                {"node": 2, "mass": 0.3},
                {"node": "tip", "mass": 0.1, "inertia": [1e-4, 2e-4, 3e-4]},
            ],
        },
        {
            "name": "wrist",
            "joint": {
                "type": "revolute",
                "origin": {"xyz": [0.5, 0, 0.2], "rpy": [0, 0, 0]},
                "axis": [0, 1, 0],
            },
            "rigid": {
                "mass": 1.2,
                "com": [0.05, 0, 0],
                "inertia": [1e-3, 2e-3, 3e-3, 1e-4, 0, 0],
                "tip": [0.1, 0, 0],
            },
        },
        {
            "name": "lower",
            "joint": {
                "type": "revolute",
                "origin": {"xyz": [0.1, 0, 0]},
                "axis": [0, 0, 1],
            },
            "beam": {
                "path": [[0, 0, 0], [0.6, 0, 0]],
                "section": TAPER,
                "material": MATERIAL,
                "elements": 4,
                "theory": "timoshenko",
            },
            "damping": {"alpha": 1.5, "beta": 1e-4},
        },
    ]
    return Robot.from_dict(
        {"name": "arm", "damping": {"ratio": 0.02}, "links": links, "payload": PAYLOAD}
        | changes
    )


def assert_same(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert_allclose(
            x, y, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(y).max(initial=0))
        )


def plain_beam(path, up, law, **options):
    E, G = MATERIAL["E"], MATERIAL["E"] / (2 * 1.31)
    return beam_body(
        path, law, youngs_modulus=E, shear_modulus=G, density=2750.0, up=up, **options
    )


def rectangle(y, z):
    return section_values(Rectangle(shape="rectangle", y=y, z=z), 0.31)


def test_beam_link_runs_along_its_dh_row_with_its_masses_and_the_robots_damping():
    path, up = (
        np.array([[0, 0, 0], [0, 0, 0.2], [0.5, 0, 0.2]]),
        np.array([[1.0, 0, 0], [0, 0, 1]]),
    )
    body = plain_beam(path, up, lambda s: rectangle(0.03, 0.012), elements=3)
    body = with_mass(with_mass(body, 2, 0.3), -1, 0.1, (1e-4, 2e-4, 3e-4))
    assert_same(body_of(robot(), 0), with_modal_ratio(body, 0.02))


def test_rigid_link_is_as_given():
    expected = rigid_body(
        1.2, (0.05, 0, 0), (1e-3, 2e-3, 3e-3, 1e-4, 0, 0), (0.1, 0, 0)
    )
    assert_same(body_of(robot(), 1), expected)


def test_last_link_carries_the_payload_and_its_own_damping():
    def law(s):
        return rectangle(0.03 - 0.01 * s, 0.012 - 0.006 * s)

    path = np.array([[0, 0, 0], [0.6, 0, 0]])
    body = plain_beam(
        path, (0.0, 0, 1), law, elements=4, uniform=False, theory="timoshenko"
    )
    loaded = with_mass(body, -1, 0.4, (1e-3, 2e-3, 3e-3), (0, 0.05, 0))
    built = body_of(robot(), 2)
    assert_allclose(built.mass_matrix, loaded.mass_matrix, rtol=1e-12, atol=1e-14)
    assert_allclose(built.damping, 1e-4 * body.stiffness)
    assert built.alpha == 1.5


def test_payload_changes_the_last_link_only():
    with_load, without = robot(), robot(payload=None)
    assert_same(body_of(with_load, 0), body_of(without, 0))
    assert_allclose(
        body_of(with_load, 2).total_mass, body_of(without, 2).total_mass + 0.4
    )


def test_robot_without_damping_has_undamped_links():
    assert_allclose(body_of(robot(damping=None), 0).damping, 0)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_theory_and_mass_model_are_those_of_the_file(theory, mass):
    changed = robot(damping=None).replace(
        {"links.upper.beam.theory": theory, "links.upper.beam.mass": mass}
    )
    path, up = (
        np.array([[0, 0, 0], [0, 0, 0.2], [0.5, 0, 0.2]]),
        np.array([[1.0, 0, 0], [0, 0, 1]]),
    )
    body = plain_beam(
        path, up, lambda s: rectangle(0.03, 0.012), elements=3, theory=theory, mass=mass
    )
    body = with_mass(with_mass(body, 2, 0.3), -1, 0.1, (1e-4, 2e-4, 3e-4))
    assert_same(body_of(changed, 0), body)


@pytest.mark.parametrize(
    "section",
    [
        {"shape": "circle", "diameter": 0.02},
        {"shape": "tube", "outer": 0.03, "inner": 0.025},
        {"shape": "box", "y": 0.03, "z": 0.02, "wall": 0.002},
        {"shape": "general", "A": 1e-4, "Iy": 2e-9, "Iz": 3e-9, "J": 1e-9},
    ],
    ids=lambda s: s["shape"],
)
def test_every_section_shape_makes_a_link_that_can_vibrate(section):
    links = [
        {
            "name": "only",
            "joint": {"type": "revolute", "dh": {"a": 0.5}},
            "beam": {"section": section, "material": MATERIAL, "theory": "timoshenko"},
        }
    ]
    body = body_of(Robot.from_dict({"name": "one", "links": links}), 0)
    assert np.all(frequencies(*clamped(body)) > 1.0)


PARAMETERS = {
    "links.lower.beam.material.E": 7.1e10,
    "links.lower.beam.material.density": 2750.0,
    "links.lower.beam.section.end.z": 0.006,
    "payload.mass": 0.4,
}


@pytest.mark.parametrize("path, value", PARAMETERS.items(), ids=PARAMETERS)
def test_links_differentiate_with_respect_to_their_description(path, value):
    arm = robot()

    def probe(scale):
        body = body_of(arm.replace({path: value * scale}), 2)
        v = np.linspace(-1, 1, body.coordinates)
        return v @ (body.stiffness / 1e7 + body.mass_matrix + body.damping) @ v

    h = 1e-4
    values = [probe(1 + n * h) for n in (-2, -1, 1, 2)]
    expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert_allclose(jax.jit(jax.grad(probe))(1.0), expected, rtol=1e-6)


def test_length_of_a_dh_row_differentiates():
    arm = robot(damping=None, links=robot().to_dict()["links"][:1])

    def deflection(a):
        return body_of(arm.replace({"links.upper.joint.dh.a": a}), 0).stiffness[
            -6:, -6:
        ]

    h = 1e-4
    values = [np.asarray(deflection(0.5 + n * h)) for n in (-2, -1, 1, 2)]
    expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert_allclose(
        jax.jit(jax.jacfwd(deflection))(0.5),
        expected,
        rtol=1e-6,
        atol=1e-6 * np.abs(expected).max(),
    )
    assert tip_deflection(body_of(arm, 0), np.array([0, 1.0, 0, 0, 0, 0]))[1] > 0
