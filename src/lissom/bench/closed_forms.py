"""Rows of the physics table whose known numbers are closed forms: a rod, an L, input shapers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..analyse.modes.modal import modes
from ..control.shaping import Mode, residual_vibration, shaper_for
from ..describe.robot import Robot
from ..solve.model import Model
from .cases import Log
from .physics_checks import row

G = 9.81  # [m/s^2]
FORMULATION = "nonlinear"
CLAMPED = 1.8751040687  # first root of 1 + cos(x) cosh(x) = 0
STEEL = {"E": 2.0e11, "nu": 0.3, "density": 7840.0}
LENGTH, WIDTH, HEIGHT = 0.5, 0.03, 0.01  # of the rod [m], its height along gravity
SHAPERS = ("zv", "zvd", "two-hump-ei")


def closed_form_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """Every row of this file."""
    log("closed forms")
    yield from rod_rows()
    yield from elbow_rows()
    yield from holding_torque_rows()
    yield from shaper_rows()


def rod() -> Robot:
    """A rod of rectangular section with the default mesh, its joint at one end."""
    beam = {
        "path": [[0, 0, 0], [LENGTH, 0, 0]],
        "section": {"shape": "rectangle", "y": WIDTH, "z": HEIGHT},
        "material": STEEL,
    }
    link = {"name": "rod", "joint": {"type": "revolute"}, "beam": beam}
    return Robot.from_dict({"name": "rod", "links": [link]})


def rod_rows() -> Iterator[dict[str, Any]]:
    """Sag rho A g L^4 / (8 E I) and frequency (1.875104 / L)^2 sqrt(E I / (rho A)) / (2 pi), the joint held."""
    model = Model(rod(), FORMULATION)
    state = model.static([0.0])
    E, rho = STEEL["E"], STEEL["density"]
    A = WIDTH * HEIGHT
    I = WIDTH * HEIGHT**3 / 12
    yield row(
        check="sag of a clamped rod",
        source="rho A g L^4 / (8 E I)",
        known=-rho * A * G * LENGTH**4 / (8 * E * I),
        ours=float(model.displacement(state, "rod/tip")[2]),
        unit="m",
        # Exact for any mesh.
        tolerance=1e-8,
        relative=True,
    )
    omega = (CLAMPED / LENGTH) ** 2 * np.sqrt(E * I / (rho * A))
    yield row(
        check="first frequency of a clamped rod, four elements",
        source="(1.875104 / L)^2 sqrt(E I / (rho A)) / (2 pi)",
        known=omega / (2 * np.pi),
        ours=modes(model, state, locked=True, count=1).frequency_hz,
        unit="Hz",
        tolerance=5e-5,
        relative=True,
    )


def elbow_rows() -> Iterator[dict[str, Any]]:
    """Sag F (a^3 + b^3) / (3 E I) + F a b^2 / (G J): an L lowered by a weight at its end."""
    a, b, d = 0.4, 0.3, 0.012  # both legs and the diameter [m]
    E, nu = 70e9, 0.33
    beam = {
        "path": [[0, 0, 0], [a, 0, 0], [a, b, 0]],
        "section": {"shape": "circle", "diameter": d},
        "material": {"E": E, "nu": nu, "density": 2700.0},
        "elements": 2,
    }
    link = {"name": "arm", "joint": {"type": "revolute"}, "beam": beam}
    robot = Robot.from_dict({"name": "elbow", "links": [link], "payload": {"mass": 0}})

    def height(payload: float) -> float:
        model = Model(robot.replace({"payload.mass": payload}), FORMULATION)
        return float(model.displacement(model.static([0.0]), "arm/tip")[2])

    F = 0.5 * G
    I = np.pi * d**4 / 64
    bending = F * (a**3 + b**3) / (3 * E * I)
    torsion = F * a * b**2 / (E / (2 * (1 + nu)) * 2 * I)
    yield row(
        check="an L under a weight, bending and torsion",
        source="F (a^3 + b^3) / (3 E I) + F a b^2 / (G J)",
        known=-(bending + torsion),
        ours=height(0.5) - height(0.0),
        unit="m",
        tolerance=1e-8,
        relative=True,
    )


def holding_torque_rows() -> Iterator[dict[str, Any]]:
    """Torque m g (L/2 + L): the weight of both rods of the library's L-shaped link."""
    robot = Robot.load("l-shape")
    model = Model(robot, "erls-cms", modes=24, reference="tangent")
    torque = model.static([0.0]).torque
    assert torque is not None
    m, L = 1.17, 0.5  # of one rod [kg], [m]
    yield row(
        check="bending moment at the joint of the L-shaped link",
        source="m g (L/2 + L)",
        known=m * G * (L / 2 + L),
        ours=abs(float(torque[0])),
        unit="N m",
        tolerance=2e-4,
        relative=True,
    )


def shaper_rows() -> Iterator[dict[str, Any]]:
    """|sum_i A_i exp(i omega t_i)| of undamped shapers, for a mode a tenth slower than they assume.

    Impulses stand half a period of the assumed mode apart: an angle phi of the real one.
    """
    omega = 2 * np.pi * 21.2
    ratio = 0.9
    phi = np.pi * ratio
    V = 0.05  # tolerated vibration of the two-hump shaper
    X = np.cbrt(V**2 * (np.sqrt(1 - V**2) + 1))
    outer = (3 * X**2 + 2 * X + 3 * V**2) / (16 * X)
    two_hump = 2 * outer * np.cos(1.5 * phi) + (1 - 2 * outer) * np.cos(0.5 * phi)
    yield row(
        check="shapers with a mode 10 % off: ZV, ZVD, two-hump",
        source="cos(phi/2), its square, and the four impulses of Singhose et al. 1997",
        known=(np.cos(phi / 2), np.cos(phi / 2) ** 2, abs(two_hump)),
        ours=[
            residual_vibration(shaper_for(kind, [Mode(omega=omega)]), ratio * omega)
            for kind in SHAPERS
        ],
        unit="1",
        tolerance=1e-9,
    )
