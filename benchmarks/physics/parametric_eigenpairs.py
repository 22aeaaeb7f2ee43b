"""Polynomial eigenpairs along the path of [Palomba2019], drawn like its Figures 3 to 5, with all the numbers.

One column for each of the three elastic pairs: frequency and damping ratio, exact and from polynomials of order 4
about the middle of the path; the errors (30) and (32); modal assurance (33) of right and left vectors. Exact is the
linear model at each time with the accelerations of that time; the polynomials keep those of the middle, as the paper's.
"""

from figures import heading, keep, tidy

from lissom.benchmarks.eigenpairs import (
    TIMES,
    errors,
    library_expansion,
    measure_eigenpairs,
    papers_expansion,
    path_matrices,
    path_points,
)
from lissom.show.axes import PALETTE, new_figure

ROWS = {
    "frequency [Hz]": ("f", "f_poly"),
    "damping ratio": ("xi", "xi_poly"),
    "frequency error [%]": ("eps_f",),
    "damping error [%]": ("eps_xi",),
    "MAC, right": ("mac_right",),
    "MAC, left": ("mac_left",),
}
NAMES = ("second", "third", "fourth")


def drawn(models: dict):
    """Six rows, three columns; every model in its own colour."""
    figure = new_figure(11, 13)
    axes = figure.subplots(len(ROWS), 3, sharex=True)
    for row, (label, keys) in zip(axes, ROWS.items(), strict=True):
        for mode, here in enumerate(row):
            for color, (name, data) in zip(PALETTE, models.items(), strict=False):
                here.plot(
                    TIMES,
                    data[keys[0]][:, mode],
                    color=color,
                    lw=1.4,
                    label=f"{name}, exact" if len(keys) > 1 else name,
                )
                if len(keys) > 1:
                    here.plot(TIMES[::2], data[keys[1]][::2, mode], "o", ms=3.2, mfc="none", color=color,
                              label=f"{name}, polynomial")  # fmt: skip
            tidy(here)
            here.ticklabel_format(useOffset=False)
            here.tick_params(labelsize=8)
        row[0].set_ylabel(label)
    for mode, here in enumerate(axes[0]):
        heading(here, f"{NAMES[mode].capitalize()} vibration mode")
    for here in axes[-1]:
        here.set_xlabel("time [s]")
    axes[0][0].legend(frameon=False, fontsize=7)
    axes[2][0].legend(frameon=False, fontsize=7)
    return figure


def main() -> None:
    """Numbers, figure."""
    points = path_points(4)
    models = {
        "paper's axes": errors(papers_expansion(), points, path_matrices("paper")),
        "planar-2r": errors(
            library_expansion("published"), points, path_matrices("published")
        ),
    }
    keep("parametric-eigenpairs", measure_eigenpairs(), drawn(models))


if __name__ == "__main__":
    main()
