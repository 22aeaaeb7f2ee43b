"""The arm of [DeLucaSiciliano1991]: its printed frequencies are those of single links, not of the arm.

The paper takes the shapes of each link from a beam that is clamped at its joint and carries all that is outboard of it
as a point mass with an inertia about the link's tip, whatever the angle of the next joint.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..analyse.modes.modal import modes
from ..describe.robot import Robot
from ..describe.section import section_values
from ..solve.model import Model
from .cases import Log
from .physics_checks import row

NAME = "de-luca-siciliano"
SOURCE = "[DeLucaSiciliano1991]"
PRINTED_HZ = {"upper": (0.48, 1.80), "fore": (2.18, 15.91)}
# Eigenvalues of the two-beam frame with its joints locked straight; found with finite elements by another program.
LOCKED_HZ = (0.438, 1.973, 2.669, 16.118)
# Roots of the characteristic equation of each link alone: a clamped beam with a mass and an inertia at its tip.
CLOSED_FORM_HZ = {"upper": (0.479693, 1.796589), "fore": (2.178334, 15.914513)}
MESH_ERROR = 3e-4  # of the links' four elements in these frequencies, relative


def carried_by_upper(robot: Robot) -> tuple[float, float]:
    """Mass [kg] and inertia about the second joint [kg m^2] of all that the upper link carries."""
    _, fore = robot.links
    hub, payload = fore.masses[0], robot.payload
    beam = fore.beam
    assert beam is not None and beam.path is not None and payload is not None
    length = float(np.linalg.norm(beam.path[-1]))
    area = section_values(beam.section, beam.material.nu).area
    link = beam.material.density * area * length
    mass = hub.mass + link + payload.mass
    about_joint = link * length**2 / 3 + payload.mass * length**2
    inertia = hub.inertia[2] + about_joint + payload.inertia[2]
    return float(mass), float(inertia)


def link_alone(name: str) -> Model:
    """One link of the arm with a point load at its tip, as the paper takes its shapes."""
    robot = Robot.load(NAME)
    data = robot.to_dict()
    link = next(link for link in data["links"] if link["name"] == name)
    link["joint"]["origin"] = {}
    load = data["payload"]
    if name == "upper":
        mass, inertia = carried_by_upper(robot)
        load = {"mass": mass, "inertia": [0.0, 0.0, inertia]}
    alone = {**data, "name": name, "links": [link], "payload": load}
    return Model(Robot.from_dict(alone), "erls-fem")


def locked_frequencies(model: Model, count: int) -> np.ndarray:
    """Lowest frequencies with every joint held straight [Hz]."""
    straight = np.zeros(model.n_joints)
    found = modes(model, straight, locked=True, count=count)
    return np.asarray(found.frequency_hz)


def mesh_reason(name: str, found: np.ndarray) -> str | None:
    """Why frequencies of a link alone differ from the print, if it is the mesh; nothing if they are farther off."""
    exact = np.asarray(CLOSED_FORM_HZ[name])
    off = np.abs(found - exact)
    if not np.all(off <= MESH_ERROR * exact):
        return None
    worst = int(off.argmax())
    return (
        f"four elements put {found[worst]:.4f} Hz where the closed form has {exact[worst]:.4f} Hz, which the paper "
        f"prints as {PRINTED_HZ[name][worst]:g} Hz"
    )


def de_luca_siciliano_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """Frequencies of each link alone as printed, and of the whole arm."""
    log("arm of De Luca and Siciliano")
    for name, printed in PRINTED_HZ.items():
        found = locked_frequencies(link_alone(name), len(printed))
        yield row(
            check=f"{NAME}: link {name} alone, clamped, with a point load",
            source=SOURCE,
            known=printed,
            ours=found,
            unit="Hz",
            # Half of the last printed digit.
            tolerance=5e-3,
            reason=mesh_reason(name, found),
        )
    yield row(
        check=f"{NAME}: whole arm, joints locked straight",
        source="derived from the data of the paper: frame of two beams",
        known=LOCKED_HZ,
        ours=locked_frequencies(Model(NAME, "erls-fem"), len(LOCKED_HZ)),
        unit="Hz",
        tolerance=1e-3,
        relative=True,
    )
