"""Three choices of the ERLS on the anthropomorphic robot, soft (E = 9e9) and stiff (E = 5e10): one physical motion.

[Boscariol2012] compares the sets A, B, C in its first simulation. In a complete first-order theory they describe the
same robot, so the paths of the tip differ only by what is of second order in the elastic displacements: less for the
stiffer arm.
"""

from figures import FOLDER, keep

from lissom import Robot, Scenario
from lissom.show.bench.cases import Case
from lissom.show.plot import plot_compare, spread

SETS = {"A": "anthropomorphic", "B": "anthropomorphic-b", "C": "anthropomorphic-c"}
MODULI = (9e9, 5e10)  # [Pa], first and second simulation
TIP = "fore/2"


def run(name: str, E: float):
    """The library's scenario with another stiffness in every link."""
    links = [link.name for link in Robot.load("anthropomorphic").links]
    scenario = Scenario.load(name).replace({f"links.{link}.beam.material.E": E for link in links})
    return Case(scenario).run(rtol=1e-8, atol=1e-10).data


def main() -> None:
    """Runs, figure, numbers."""
    runs = {f"set {name}, E = {E:g} Pa": run(file, E) for E in MODULI for name, file in SETS.items()}
    FOLDER.mkdir(parents=True, exist_ok=True)
    numbers = {}
    for E in MODULI:
        same = {name: data for name, data in runs.items() if f"E = {E:g}" in name}
        plot_compare(same, TIP, FOLDER / f"erls-sets-{E:.0e}.png".replace("+", ""))
        elastic = max(float(abs(data.position - data.erls_position).max()) for data in same.values())
        numbers[f"{E:g}"] = {"largest_spread_m": float(spread(same, TIP)[1].max()), "largest_displacement_m": elastic}
    plot_compare(runs, TIP, FOLDER / "erls-sets.png")
    keep("erls-sets", {"node": TIP, "by_E_pa": numbers})


if __name__ == "__main__":
    main()
