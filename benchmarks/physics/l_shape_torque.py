"""The elbow of the aluminium L under a torque, [Vidoni2015] test 3: height, acceleration, and its spectrum.

From static balance at 135 degrees; the torque of the paper is lost, a pulse of +1 and -1 N m of 0.1 s each is taken.
Expected: peaks near 12.3, 31.0, 120.4 and 152.0 Hz with consistent mass, 11.1, 29.6 and 119.2 Hz with lumped mass,
beside the published 11, 31, 113 and 171 Hz. The pulse has no strength at multiples of 10 Hz: the peak at 120.4 Hz is
weak for that reason.
"""

from figures import heading, keep, tidy

from lissom.benchmarks.l_shape import MASS, PEAKS_HZ, peak_rows, spectrum
from lissom.show.axes import INK, PALETTE, SOFT, new_figure


def main() -> None:
    """Runs, figure, numbers."""
    figure = new_figure(7.2, 8.0)
    height, shaken, peaks = figure.subplots(3, 1, height_ratios=(1, 1, 1.5))
    for mass, colour in zip(("consistent", "lumped"), PALETTE, strict=False):
        found = spectrum({MASS: mass})
        height.plot(
            found.time, found.height, color=colour, lw=1.2, label=f"{mass} mass"
        )
        shaken.plot(found.time, found.acceleration, color=colour, lw=0.6)
        peaks.semilogy(found.frequency[1:], found.amplitude[1:], color=colour, lw=1.0)
        for frequency in found.peaks:
            at = abs(found.frequency - frequency).argmin()
            peaks.plot(frequency, found.amplitude[at], "o", color=colour, ms=4)
    for published in PEAKS_HZ:
        peaks.axvline(published, color=SOFT, ls=":", lw=1.2)
        peaks.annotate(
            f"{published:g}", (published, 40), ha="center", fontsize=8, color=INK
        )
    for axes in (height, shaken, peaks):
        tidy(axes)
    height.set(ylabel="z of the elbow [m]", xlim=(0, 2))
    shaken.set(ylabel="acceleration [m/s$^2$]", xlabel="time [s]", xlim=(0, 2))
    peaks.set(
        ylabel="amplitude [m/s$^2$]",
        xlabel="frequency [Hz]",
        xlim=(0, 200),
        ylim=(1e-5, 100),
    )
    heading(height, "L-shaped mechanism under a torque; dotted: published frequencies")
    height.legend(frameon=False, loc="lower right")
    keep("l-shape-torque", {"peaks": list(peak_rows())}, figure)


if __name__ == "__main__":
    main()
