"""The flexible four-bar with its crank at a constant 340 rpm, to steady state: mid-span deflections over crank angle.

Ten seconds, 57 turns. The record beside the picture holds what must not grow: the opening of the loop, the distance of
the rigid mechanism from the closed form, the energy residual, and how much the last turn differs from the one before.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import lissom as ls
from lissom.solve.inputs import Inputs, Spline

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
SPEED = 340 * 2 * np.pi / 60  # [rad/s]
T_END = 10.0  # [s]
LENGTHS = {"crank": 0.10795, "coupler": 0.2794, "follower": 0.27051}  # [m]
GROUND = np.array([0.254, 0.0])  # second pin on the ground [m]
LINKS = ("coupler", "follower")
TURN = np.linspace(0.0, 1.0, 181)  # one turn of the crank, as shares of it


def simulate() -> ls.Run:
    """The mechanism with its crank led at constant speed."""
    model = ls.Model("four-bar", "erls-fem")
    # The spline comes up to speed before t = 0, and to rest again long after the end.
    before = np.linspace(-3.0, 0.0, 31)
    after = np.linspace(1.0, T_END + 30.0, 40)
    t = np.concatenate([before, after])
    motion = Spline(t.tolist(), SPEED * t)
    inputs = Inputs(model.n_joints, motion=[(0, motion)])
    state = model.at([0.0], [SPEED])
    period = 2 * np.pi / SPEED
    return ls.simulate(model, state, t_end=T_END, output_dt=period / 180, inputs=inputs)


def deflection(run: ls.Run, link: str) -> np.ndarray:
    """Distance of a link's middle from the line between its pins, to the left positive [m]."""
    first = run.position(f"{link}/0")[:, :2]
    middle = run.position(f"{link}/2")[:, :2]
    last = run.position(f"{link}/4")[:, :2]
    chord = last - first
    along = chord / np.linalg.norm(chord, axis=1)[:, None]
    away = middle - first
    return along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]


def closed_form(crank: np.ndarray) -> np.ndarray:
    """Pin between coupler and follower of the rigid mechanism, above the ground link."""
    a = LENGTHS["coupler"]
    b = LENGTHS["follower"]
    B = LENGTHS["crank"] * np.stack([np.cos(crank), np.sin(crank)], axis=1)
    # Two circles meet: of radius a around the crank's pin B, of radius b around the ground's.
    r = np.linalg.norm(GROUND - B, axis=1)[:, None]
    e = (GROUND - B) / r
    normal = np.stack([-e[:, 1], e[:, 0]], axis=1)
    along = (a**2 - b**2 + r**2) / (2 * r)
    across = np.sqrt(a**2 - along**2)
    return B + along * e + across * normal


def turns_of(run: ls.Run, link: str) -> dict[str, np.ndarray]:
    """Deflection [mm] of a link over the first turn of the crank and over the last two."""
    turns = run.q[:, 0] / (2 * np.pi)
    last = np.floor(turns[-1])
    millimetres = 1e3 * deflection(run, link)
    return {
        "first turn": np.interp(TURN, turns, millimetres),
        "last turn but one": np.interp(last - 2 + TURN, turns, millimetres),
        "last turn": np.interp(last - 1 + TURN, turns, millimetres),
    }


def draw(deflections: dict[str, dict[str, np.ndarray]]) -> None:
    """The three turns of both links over the crank angle."""
    figure, panels = plt.subplots(
        1, 2, figsize=(9, 3.4), layout="constrained", sharex=True
    )
    styles = {
        "first turn": {"color": "0.75", "lw": 1},
        "last turn but one": {"color": "C1", "lw": 2.5},
        "last turn": {"color": "C0", "lw": 1},
    }
    for panel, link in zip(panels, LINKS, strict=True):
        for name, style in styles.items():
            panel.plot(360 * TURN, deflections[link][name], label=name, **style)
        panel.set_title(link)
        panel.set_xlabel("crank angle [deg]")
        panel.set_ylabel("mid-span deflection [mm]")
        panel.set_xticks(range(0, 361, 90))
        panel.legend(fontsize=8)
    figure.savefig(FIGURES / "four-bar-340rpm.png", dpi=130)


def largest(values: np.ndarray) -> float:
    """Largest magnitude."""
    return float(np.abs(values).max())


def record_of(run: ls.Run, deflections: dict[str, dict[str, np.ndarray]]) -> dict:
    """Loop opening, distance from the closed form, energy residual and drift over the turns."""
    opening = run.position("follower/tip") - np.append(GROUND, 0.0)
    rigid = run.data["erls_position"].sel(node="coupler/4").values[:, :2]
    residual = largest(run.energy("residual"))
    record = {
        "loop_opening_m": largest(opening),
        "rigid_motion_off_closed_form_m": largest(rigid - closed_form(run.q[:, 0])),
        "energy_residual_share_of_input": residual / largest(run.energy("input")),
        "energy_residual_share_of_kinetic": residual / largest(run.energy("kinetic")),
        "steps": int(run.data.attrs["steps"]),
    }
    for link in LINKS:
        last = deflections[link]["last turn"]
        before = deflections[link]["last turn but one"]
        record[link] = {
            "peak_mm": largest(last),
            "turn_to_turn_mm": largest(last - before),
        }
    return record


def main() -> None:
    """Run the mechanism, draw the figure, write the record."""
    run = simulate()
    deflections = {link: turns_of(run, link) for link in LINKS}
    draw(deflections)
    text = json.dumps(record_of(run, deflections), indent=2)
    (FIGURES / "four-bar-340rpm.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
