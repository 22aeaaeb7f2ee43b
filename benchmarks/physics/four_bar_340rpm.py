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
SPEED, T_END = 340 * 2 * np.pi / 60, 10.0
LENGTHS = {"crank": 0.10795, "coupler": 0.2794, "follower": 0.27051}
GROUND = np.array([0.254, 0.0])


def deflection(run: ls.Run, link: str) -> np.ndarray:
    """Distance of a link's middle from the line between its pins, to the left positive [m]."""
    first, middle, last = (run.position(f"{link}/{k}")[:, :2] for k in (0, 2, 4))
    along = (last - first) / np.linalg.norm(last - first, axis=1)[:, None]
    away = middle - first
    return along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]


def closed_form(crank: np.ndarray) -> np.ndarray:
    """Pin between coupler and follower of the rigid mechanism, above the ground link."""
    B = LENGTHS["crank"] * np.stack([np.cos(crank), np.sin(crank)], axis=1)
    r = np.linalg.norm(GROUND - B, axis=1)[:, None]
    e = (GROUND - B) / r
    along = (LENGTHS["coupler"] ** 2 - LENGTHS["follower"] ** 2 + r**2) / (2 * r)
    return (
        B
        + along * e
        + np.sqrt(LENGTHS["coupler"] ** 2 - along**2)
        * np.stack([-e[:, 1], e[:, 0]], axis=1)
    )


def main() -> None:
    """Run, draw, record."""
    model = ls.Model("four-bar")
    # up to speed before t = 0, and at rest again long after the end
    t = np.concatenate([np.linspace(-3.0, 0.0, 31), np.linspace(1.0, T_END + 30.0, 40)])
    inputs = Inputs(model.n_joints, motion=[(0, Spline(t.tolist(), SPEED * t))])
    state = model.at([0.0], [SPEED])
    period = 2 * np.pi / SPEED
    run = ls.simulate(model, state, t_end=T_END, output_dt=period / 180, inputs=inputs)
    turns = run.q[:, 0] / (2 * np.pi)
    last = np.floor(turns[-1])
    figure, panels = plt.subplots(
        1, 2, figsize=(9, 3.4), layout="constrained", sharex=True
    )
    change = {}
    for panel, link in zip(panels, ("coupler", "follower"), strict=True):
        bent = 1e3 * deflection(run, link)
        angle = np.linspace(0.0, 1.0, 181)
        rows = [np.interp(last - back + angle, turns, bent) for back in (1, 2)]
        panel.plot(
            360 * angle,
            np.interp(angle, turns, bent),
            color="0.75",
            lw=1,
            label="first turn",
        )
        panel.plot(360 * angle, rows[1], "C1", lw=2.5, label="last turn but one")
        panel.plot(360 * angle, rows[0], "C0", lw=1, label="last turn")
        panel.set(
            title=link,
            xlabel="crank angle [deg]",
            ylabel="mid-span deflection [mm]",
            xticks=range(0, 361, 90),
        )
        panel.legend(fontsize=8)
        change[link] = {
            "peak_mm": float(np.abs(rows[0]).max()),
            "turn_to_turn_mm": float(np.abs(np.subtract(*rows)).max()),
        }
    figure.savefig(FIGURES / "four-bar-340rpm.png", dpi=130)
    rigid = run.data["erls_position"].sel(node="coupler/4").values[:, :2]
    opening = np.abs(run.position("follower/tip") - np.append(GROUND, 0.0)).max()
    record = {
        "loop_opening_m": float(opening),
        "rigid_motion_off_closed_form_m": float(
            np.abs(rigid - closed_form(run.q[:, 0])).max()
        ),
        "energy_residual_share_of_input": float(
            np.abs(run.energy("residual")).max() / np.abs(run.energy("input")).max()
        ),
        "energy_residual_share_of_kinetic": float(
            np.abs(run.energy("residual")).max() / run.energy("kinetic").max()
        ),
        "steps": int(run.data.attrs["steps"]),
        **change,
    }
    (FIGURES / "four-bar-340rpm.json").write_text(json.dumps(record, indent=2) + "\n")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
