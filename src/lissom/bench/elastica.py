"""Links bent far: the elastica under a weight on its tip, and under a moment that bends it to a full circle."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy

from ..describe.robot import Robot
from ..solve.model import Model
from .cases import Log
from .physics_checks import bound, row

LENGTH = 0.4  # [m]
YOUNGS_MODULUS = 2.0e11  # [Pa]
WIDTH, THICKNESS = 0.02, 0.001  # [m]
BENDING = YOUNGS_MODULUS * WIDTH * THICKNESS**3 / 12  # E I [N m^2]
STANDARD_GRAVITY = 9.81
LOAD = 10.0  # P L^2 / (E I)
SEGMENTS = (16, 32)
ORDER = 3  # of the error in the length of a segment
TURNS = (0.25, 0.5, 1.0)
SOURCE = "closed form of the elastica, elliptic integrals [Mattiasson1981]"


def leaf_spring(segments: int, load: float = 0.0, density: float = 1e-3) -> Robot:
    """A clamped leaf spring along x with a weight on its tip that pulls along -y.

    Args:
        segments: bodies, of one element each.
        load: P L^2 / (E I).
        density: [kg/m^3]; by default the spring weighs nothing beside the load.
    """
    spring = {
        "name": "spring",
        "joint": {"type": "revolute", "axis": [0, 0, 1]},
        "beam": {
            "path": [[0, 0, 0], [LENGTH, 0, 0]],
            "section": {"shape": "rectangle", "y": THICKNESS, "z": WIDTH},
            "up": [0, 0, 1],
            "material": {"E": YOUNGS_MODULUS, "nu": 0.3, "density": density},
            "elements": segments,
            "segments": segments,
        },
    }
    robot = {
        "name": "leaf-spring",
        "gravity": [0.0, -STANDARD_GRAVITY, 0.0],
        "planar": True,
        "links": [spring],
    }
    if load:
        mass = load * BENDING / LENGTH**2 / STANDARD_GRAVITY
        robot["payload"] = {"mass": mass}
    return Robot.from_dict(robot)


def elastica_tip(load: float) -> tuple[float, float]:
    """How far the tip of a clamped elastica comes nearer and sinks, in lengths, under a load P L^2 / (E I) across it.

    With the angle a of the tip, p = sqrt((1 + sin a) / 2) and sin b = 1 / (p sqrt 2),

        sqrt(load) = K(p) - F(b, p),   x = sqrt(2 sin a / load),   y = 1 - 2 (E(p) - E(b, p)) / sqrt(load).
    """
    ellipk, ellipkinc = scipy.special.ellipk, scipy.special.ellipkinc
    ellipe, ellipeinc = scipy.special.ellipe, scipy.special.ellipeinc

    def amplitude(m):
        return np.arcsin(1.0 / np.sqrt(2.0 * m))

    def gap(m):
        return ellipk(m) - ellipkinc(amplitude(m), m) - np.sqrt(load)

    m = scipy.optimize.brentq(gap, 0.5 + 1e-15, 1.0 - 1e-15, xtol=1e-15)
    x = np.sqrt(2.0 * (2.0 * m - 1.0) / load)
    arc = ellipe(m) - ellipeinc(amplitude(m), m)
    return 1.0 - float(x), float(1.0 - 2.0 * arc / np.sqrt(load))


def tip_of(model: Model, wrench: Any = None) -> np.ndarray:
    """Displacement of the tip in equilibrium, in lengths."""
    state = model.static(wrench=wrench)
    moved = np.asarray(model.displacement(state, "spring/tip"))
    return moved / LENGTH


def elastica_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """Tip of the leaf spring under its load, the order of its error, and the circle that a moment makes of it."""
    known = np.array(elastica_tip(LOAD))
    tips = []
    for segments in SEGMENTS:
        log(f"elastica, {segments} segments")
        model = Model(leaf_spring(segments, LOAD), "nonlinear", stiffening="geometric")
        tips.append(-tip_of(model)[:2])
    errors = [np.abs(tip - known).max() for tip in tips]
    yield row(
        check=f"elastica, P L^2/EI = {LOAD:g}, {SEGMENTS[-1]} segments: tip nearer, down",
        source=SOURCE,
        known=known,
        ours=tips[-1],
        unit="L",
        tolerance=1e-4,
    )
    yield row(
        check=f"order of its error from {SEGMENTS[0]} to {SEGMENTS[-1]} segments",
        source="a segment is exact to the second power of its rotation",
        known=ORDER,
        ours=np.log2(errors[0] / errors[1]),
        unit="1",
        tolerance=0.2,
    )
    log(f"arcs and circle, {SEGMENTS[-1]} segments")
    spring = Model(leaf_spring(SEGMENTS[-1]), "nonlinear", stiffening="geometric")
    gaps = [arc_error(spring, 2.0 * np.pi * turn) for turn in TURNS]
    yield bound(
        check=f"moment that bends to a quarter, half, full circle, {SEGMENTS[-1]} segments: tip",
        source="closed form: curvature M/EI",
        limit=1e-4,
        ours=max(gaps),
        unit="L",
    )


def arc_error(model: Model, angle: float) -> float:
    """Distance of the tip from that of a circular arc of this angle, bent by the moment EI angle / L, in lengths."""
    moment = angle * BENDING / LENGTH
    tip = tip_of(model, {"spring/tip": [0.0, 0.0, 0.0, 0.0, 0.0, moment]})
    arc = [np.sin(angle) / angle - 1.0, (1.0 - np.cos(angle)) / angle, 0.0]
    return float(np.linalg.norm(tip - arc))
