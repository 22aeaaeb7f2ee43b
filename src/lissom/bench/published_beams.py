"""Rows of the physics table from published tables of beams: one that spins, one that bends far."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

from ..analyse.linear.linearize import linearize
from ..describe.robot import Robot
from ..solve.model import Model
from .cases import Log
from .physics_checks import row

# Flapping frequencies of a uniform beam on a hub without radius and spin rates, both by sqrt(E I / (rho A L^4)).
SPIN = (0.0, 2.0, 6.0, 10.0)
FLAP = {
    "first": (3.5160, 4.1373, 7.3604, 11.2023),
    "second": (22.0345, 22.6149, 26.8091, 33.6404),
}
OUT_OF_PLANE = ("z", "ry")  # components of the nodes in flapping
# The spinning beam, in SI units: so thin that its stretch, which the source leaves out, does not matter.
SIDE, LENGTH, E, RHO = 0.004, 1.7, 7e10, 2700.0
# P L^2 / (E I) = 1, in lengths.
TIP = {"down": 0.30172, "nearer": 0.05643}
SEGMENTS = 4


def published_beam_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """Every row of this file."""
    log("spinning beam of [Wright1982]")
    yield from flap_rows()
    log("leaf spring of [Mattiasson1981]")
    yield from leaf_spring_rows()


# --- a beam that spins ---------------------------------------------------------------------------------------------


def flap_rows() -> Iterator[dict[str, Any]]:
    """Both lowest flapping frequencies at four spin rates."""
    model = spinning_beam()
    unit = np.sqrt(E * SIDE**2 / 12 / RHO / LENGTH**4)
    found = np.array([flap_frequencies(model, spin * unit) for spin in SPIN]) / unit
    for k, (name, known) in enumerate(FLAP.items()):
        yield row(
            check=f"{name} flap of a spinning beam, spin rates 0, 2, 6, 10",
            source="[Wright1982]",
            known=known,
            ours=found[:, k],
            unit="sqrt(E I / (rho A L^4))",
            tolerance=1e-4,
            relative=True,
        )


def spinning_beam() -> Model:
    """A square beam that turns about the z axis, with geometric stiffening."""
    beam = {
        "path": [[0, 0, 0], [LENGTH, 0, 0]],
        "section": {"shape": "rectangle", "y": SIDE, "z": SIDE},
        "up": [0, 0, 1],
        "material": {"E": E, "nu": 0.3, "density": RHO},
        "elements": 8,
    }
    joint = {"type": "revolute", "axis": [0, 0, 1]}
    link = {"name": "blade", "joint": joint, "beam": beam}
    robot = Robot.from_dict({"name": "blade", "gravity": [0, 0, 0], "links": [link]})
    return Model(robot, "nonlinear", basis="nodal", stiffening="geometric")


def flap_frequencies(model: Model, rate: float) -> np.ndarray:
    """The two lowest frequencies [rad/s] out of the plane of rotation of the undeformed beam, its joint led."""
    about = linearize(model, [0.3], qd=[rate]).matrices
    assert about is not None
    # Behind the joint.
    flaps = [
        k
        for k, name in enumerate(model.coordinate_names, model.n_joints)
        if name.rpartition(".")[2] in OUT_OF_PLANE
    ]
    M, K = (np.asarray(part)[np.ix_(flaps, flaps)] for part in (about.M, about.K))
    squares = scipy.linalg.eigh(K, M, eigvals_only=True, subset_by_index=[0, 1])
    return np.sqrt(squares)


# --- a leaf spring -------------------------------------------------------------------------------------------------


def leaf_spring_rows() -> Iterator[dict[str, Any]]:
    """P L^2 / (E I) = 1: where the tip of a cantilever under an end load goes, in lengths."""
    yield row(
        check="leaf spring, P L^2/EI = 1: tip down and nearer, four segments",
        source="[Mattiasson1981], table 2",
        known=tuple(TIP.values()),
        ours=tip_under_load({"links.spring.beam.segments": SEGMENTS}, "geometric"),
        unit="L",
        tolerance=2e-3,
    )
    yield row(
        check="leaf spring, one body: tip down and nearer",
        source="linear bending: P L^3 / (3 E I)",
        known=(1 / 3, 0.0),
        ours=tip_under_load({}, "none"),
        unit="L",
        tolerance=1e-3,
    )


def tip_under_load(changes: dict[str, Any], stiffening: str) -> tuple[float, float]:
    """How far the tip of an almost massless spring goes down and comes nearer under its payload, in lengths."""
    length, thickness, width, modulus = 0.4, 0.001, 0.02, 2.0e11
    weight = modulus * width * thickness**3 / 12 / length**2
    beam = {
        "path": [[0, 0, 0], [length, 0, 0]],
        "section": {"shape": "rectangle", "y": width, "z": thickness},
        "up": [0, 0, 1],
        "material": {"E": modulus, "nu": 0.3, "density": 1e-3},
    }
    joint = {"type": "revolute", "axis": [0, 1, 0]}
    robot = Robot.from_dict(
        {
            "name": "spring",
            "links": [{"name": "spring", "joint": joint, "beam": beam}],
            "payload": {"mass": weight / 9.81},
        }
    )
    model = Model(robot.replace(changes), "nonlinear", stiffening=stiffening)
    x, _, z = model.displacement(model.static([0.0]), "spring/tip")
    return -float(z) / length, -float(x) / length
