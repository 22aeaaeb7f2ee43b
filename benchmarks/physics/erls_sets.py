"""Three choices of the ERLS on the anthropomorphic robot, soft (E = 9e9) and stiff (E = 5e10): one physical motion.

[Boscariol2012] compares the sets A, B, C in its first simulation. In a complete first-order theory they describe the
same robot, so the paths of the tip differ only by what is of second order in the elastic displacements: less for the
stiffer arm.
"""

from figures import heading, keep, tidy

from lissom import Robot, Scenario
from lissom.benchmarks.cases import Case
from lissom.show.axes import PALETTE, new_figure
from lissom.show.plot import spread

SETS = {"A": "anthropomorphic", "B": "anthropomorphic-b", "C": "anthropomorphic-c"}
MODULI = (9e9, 5e10)  # [Pa], first and second simulation
TIP = "fore/2"


def run(name: str, E: float):
    """The library's scenario with another stiffness in every link."""
    links = [link.name for link in Robot.load("anthropomorphic").links]
    scenario = Scenario.load(name).replace(
        {f"links.{link}.beam.material.E": E for link in links}
    )
    return Case(scenario).run(rtol=1e-8, atol=1e-10).data


def drawn(groups: dict):
    """Paths of all runs from above, and the spread of each stiffness against time."""
    figure = new_figure(11, 4.6)
    above, apart = figure.subplots(1, 2, width_ratios=(1, 1.15))
    for k, (E, runs) in enumerate(groups.items()):
        for style, (name, data) in zip(("-", "--", ":"), runs.items(), strict=True):
            path = data.position.sel(node=TIP)
            label = f"{name}, E = {E:g} Pa"
            above.plot(
                path.sel(axis="x"),
                path.sel(axis="y"),
                style,
                lw=1.8,
                color=PALETTE[k],
                label=label,
            )
        time, distance = spread(runs, TIP)
        apart.semilogy(
            time, 1e3 * distance, color=PALETTE[k], lw=1.4, label=f"E = {E:g} Pa"
        )
    above.set(xlabel="x [m]", ylabel="y [m]")
    apart.set(xlabel="time [s]", ylabel="largest distance between two sets [mm]")
    for axes, title in (
        (above, "Path of the tip, from above"),
        (apart, "Spread of the tip between the sets"),
    ):
        tidy(axes)
        heading(axes, title)
        axes.legend(frameon=False, fontsize=8)
    return figure


def main() -> None:
    """Runs, figure, numbers."""
    groups = {
        E: {f"set {name}": run(file, E) for name, file in SETS.items()} for E in MODULI
    }
    numbers = {}
    for E, runs in groups.items():
        elastic = max(
            float(abs(data.position - data.erls_position).max())
            for data in runs.values()
        )
        numbers[f"{E:g}"] = {
            "largest_spread_m": float(spread(runs, TIP)[1].max()),
            "largest_displacement_m": elastic,
        }
    keep("erls-sets", {"node": TIP, "by_E_pa": numbers}, drawn(groups))


if __name__ == "__main__":
    main()
