"""Polynomial eigenpairs along the path of [Palomba2019], drawn like its Figures 3 to 5, with all the numbers.

One column for each of the three elastic pairs: frequency and damping ratio, exact and from polynomials of order 4
about the middle of the path; the errors (30) and (32); modal assurance (33) of right and left vectors. Exact is the
linear model at each time with the accelerations of that time; the polynomials keep those of the middle, as the paper's.
"""

from lissom.bench.eigenpairs import (
    PAPER,
    TIMES,
    errors,
    measure_eigenpairs,
    path_expansion,
    path_matrices,
    path_points,
)
from lissom.show.axes import PALETTE, new_figure

from .figures import heading, keep, tidy

ROWS = {
    "frequency [Hz]": ("f", "f_poly"),
    "damping ratio": ("xi", "xi_poly"),
    "frequency error [%]": ("eps_f",),
    "damping error [%]": ("eps_xi",),
    "MAC, right": ("mac_right",),
    "MAC, left": ("mac_left",),
}
NAMES = ("second", "third", "fourth")


def draw(models: dict):
    """Six rows, three columns; every model in its own colour."""
    figure = new_figure(11, 13)
    grid = figure.subplots(len(ROWS), 3, sharex=True)
    for row, label in zip(grid, ROWS, strict=True):
        for mode, axes in enumerate(row):
            for colour, name in zip(PALETTE, models, strict=False):
                draw_model(axes, models[name], name, ROWS[label], mode, colour)
            tidy(axes)
            axes.ticklabel_format(useOffset=False)
            axes.tick_params(labelsize=8)
        row[0].set_ylabel(label)
    for axes, name in zip(grid[0], NAMES, strict=True):
        heading(axes, f"{name.capitalize()} vibration mode")
    for axes in grid[-1]:
        axes.set_xlabel("time [s]")
    # One legend for the rows with two curves of each model, one for those with a single curve.
    grid[0, 0].legend(frameon=False, fontsize=7)
    grid[2, 0].legend(frameon=False, fontsize=7)
    return figure


def draw_model(axes, data, name: str, keys: tuple, mode: int, colour: str) -> None:
    """One quantity of one mode: its exact values as a line, those of the polynomials as dots."""
    has_polynomial = len(keys) > 1
    label = f"{name}, exact" if has_polynomial else name
    axes.plot(TIMES, data[keys[0]][:, mode], color=colour, lw=1.4, label=label)
    if has_polynomial:
        axes.plot(
            TIMES[::2],
            data[keys[1]][::2, mode],
            "o",
            ms=3.2,
            mfc="none",
            color=colour,
            label=f"{name}, polynomial",
        )


def main() -> None:
    """Measure, draw the figure, write the numbers."""
    points = path_points(4)
    models = {}
    for terms in (PAPER, "published"):
        models[terms] = errors(path_expansion(terms), points, path_matrices(terms))
    keep("parametric-eigenpairs", measure_eigenpairs(), draw(models))


if __name__ == "__main__":
    main()
