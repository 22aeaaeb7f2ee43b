"""Three choices of the ERLS on the anthropomorphic robot, soft (E = 9e9) and stiff (E = 5e10): one physical motion.

[Boscariol2012] compares the sets A, B, C in its first simulation. In a complete first-order theory they describe the
same robot, so the paths of the tip differ only by what is of second order in the elastic displacements: less for the
stiffer arm.
"""

from lissom import Robot, Scenario
from lissom.bench.cases import Case
from lissom.show.axes import PALETTE, new_figure
from lissom.show.plot import spread

from .figures import heading, keep, tidy

SETS = {"A": "anthropomorphic", "B": "anthropomorphic-b", "C": "anthropomorphic-c"}
MODULI = (9e9, 5e10)  # [Pa], first and second simulation
TIP = "fore/2"


def run(name: str, E: float):
    """The library's scenario with another stiffness in every link."""
    changes = {}
    for link in Robot.load("anthropomorphic").links:
        changes[f"links.{link.name}.beam.material.E"] = E
    case = Case(Scenario.load(name).replace(changes))
    return case.run(rtol=1e-8, atol=1e-10).data


def draw(groups: dict):
    """Paths of all runs from above, and the spread of each stiffness against time."""
    figure = new_figure(11, 4.6)
    paths, spreads = figure.subplots(1, 2, width_ratios=(1, 1.15))
    for k, (E, runs) in enumerate(groups.items()):
        for style, name in zip(("-", "--", ":"), runs, strict=True):
            path = runs[name].position.sel(node=TIP)
            paths.plot(
                path.sel(axis="x"),
                path.sel(axis="y"),
                style,
                lw=1.8,
                color=PALETTE[k],
                label=f"{name}, E = {E:g} Pa",
            )
        time, distance = spread(runs, TIP)
        label = f"E = {E:g} Pa"
        spreads.semilogy(time, 1e3 * distance, color=PALETTE[k], lw=1.4, label=label)
    paths.set(xlabel="x [m]", ylabel="y [m]")
    heading(paths, "Path of the tip, from above")
    spreads.set(xlabel="time [s]", ylabel="largest distance between two sets [mm]")
    heading(spreads, "Spread of the tip between the sets")
    for axes in (paths, spreads):
        tidy(axes)
        axes.legend(frameon=False, fontsize=8)
    return figure


def main() -> None:
    """Run all sets, draw the figure, write the numbers."""
    groups = {}
    numbers = {}
    for E in MODULI:
        runs = {f"set {name}": run(file, E) for name, file in SETS.items()}
        _, distance = spread(runs, TIP)
        displacement = 0.0
        for data in runs.values():
            shift = abs(data.position - data.erls_position)
            displacement = max(displacement, float(shift.max()))
        groups[E] = runs
        numbers[f"{E:g}"] = {
            "largest_spread_m": float(distance.max()),
            "largest_displacement_m": displacement,
        }
    keep("erls-sets", {"node": TIP, "by_E_pa": numbers}, draw(groups))


if __name__ == "__main__":
    main()
