"""Keys of a scenario that only a simulation reads."""

from collections.abc import Iterable

# A back end is chosen for all that computes.
BACK_END = "solver.backend"
RUN_ONLY = ("t_end", "output_dt", "solver", "inputs", "controller", "record")


def run_only(paths: Iterable[str]) -> list[str]:
    """The dotted paths, out of these, that only a simulation reads."""
    return [
        path
        for path in paths
        if path.partition(".")[0] in RUN_ONLY and path != BACK_END
    ]
