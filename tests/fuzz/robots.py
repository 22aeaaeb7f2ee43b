"""Random robots and the physics audit: ten robots of one structure in a case, one audit of them."""

from pathlib import Path

from .audits import AUDITS
from .kinds import ROUND
from .outcome import Outcome, violation
from .structures import STRUCTURES

# Every audit of every structure that it suits; one round goes through all of them with the same robots.
AGENDA = [
    (structure, audit)
    for audit in AUDITS
    for structure in STRUCTURES
    if AUDITS[audit].suits(STRUCTURES[structure])
]


def run(seed: int, folder: Path) -> Outcome:
    """One audit of some robots of one structure."""
    block, position = divmod(seed, ROUND)
    times, entry = divmod(position, len(AGENDA))
    structure_name, audit_name = AGENDA[entry]
    audit = AUDITS[audit_name]
    structure = STRUCTURES[structure_name]
    first = 10 * (ROUND * block + times)
    label = f"robots: {audit_name}"
    names = [structure_name]
    for number in range(first, first + audit.robots):
        robot = structure.make(number)
        robot.save(folder / f"{structure_name}-{number}.yaml")
        for measured in audit.measure(structure, robot, number):
            if not measured.is_right:
                text = (
                    f"{structure_name}, numbers {number}: {measured.name}: "
                    f"{measured.error:.3g}, at most {measured.limit:.3g} is right"
                )
                return violation(label, text, names=tuple(names))
        names.append(str(number))
    return Outcome("accepted", label, count=len(names) - 1, names=tuple(names))
