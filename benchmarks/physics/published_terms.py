"""`terms: published` against `terms: consistent`: what the printed equations leave out vanishes with stiffness.

The undamped double pendulum of [Boscariol2012], its choice of the ERLS, gravity -y, released straight and horizontal.
Expected: the largest distance of the two tips falls at least tenfold when E grows tenfold, for what is left out is of
first order in the elastic displacements, and those go with 1/E.
"""

from typing import Literal

import numpy as np

from lissom import Robot, Scenario
from lissom.bench.cases import Case, distance
from lissom.show.axes import PALETTE

from .figures import chart, heading, keep, slope

MODULI = (2e9, 2e10, 2e11, 2e12)  # [Pa]
T_END = 0.5  # [s]


def tip_path(E: float, terms: Literal["published", "consistent"]) -> np.ndarray:
    """Path (time, 3) of the tip [m]."""
    stiff = {f"links.{link}.beam.material.E": E for link in ("upper", "lower")}
    robot = Robot.load("double-pendulum").replace({"damping": None} | stiff)
    reference = {"zeroed": ["upper/tip.y", "lower/0.rz"]}
    scenario = Scenario(
        robot=robot,
        formulation="erls-fem",
        reference=reference,
        terms=terms,
        t_end=T_END,
        output_dt=0.001,
    )
    return Case(scenario).run(rtol=1e-8, atol=1e-10).position("lower/tip")


def main() -> None:
    """Run both sets of terms, draw the figure, write the numbers."""
    gaps = []
    for E in MODULI:
        published = tip_path(E, "published")
        consistent = tip_path(E, "consistent")
        gaps.append(distance(published, consistent))
    figure, axes = chart()
    axes.loglog(MODULI, gaps, "o-", color=PALETTE[0], label="measured")
    axes.loglog(
        MODULI,
        [gaps[0] * MODULI[0] / E for E in MODULI],
        ls="--",
        color=PALETTE[1],
        label="proportional to 1/E",
    )
    axes.set_xlabel("Young's modulus E [Pa]")
    axes.set_ylabel("largest distance of the tips [m]")
    heading(axes, f"Double pendulum, {T_END:g} s: published against consistent terms")
    axes.legend(frameon=False)
    numbers = {
        "E_pa": MODULI,
        "largest_tip_distance_m": gaps,
        "slope_per_decade": slope(MODULI, gaps),
        "t_end_s": T_END,
    }
    keep("published-terms", numbers, figure)


if __name__ == "__main__":
    main()
