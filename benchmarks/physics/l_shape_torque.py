"""The elbow of the aluminium L under a torque, [Vidoni2015] test 3: height, acceleration, and its spectrum.

From static balance at 135 degrees; the torque of the paper is lost, a pulse of +1 and -1 N m of 0.1 s each is taken.
Expected: peaks of 10, 5.4 and 4.4 m/s^2 at 12.3, 31.0 and 152.0 Hz with consistent mass, of 2.2, 1.1 and 0.54 m/s^2 at
11.1, 29.6 and 119.2 Hz with lumped mass, beside the published 11, 31, 113 and 171 Hz. The pulse has no strength at
multiples of 10 Hz: with consistent mass the line at 120.4 Hz has 0.023 % of the largest, and the third peak is absent.
"""

from lissom.bench.l_shape import MASS, PEAKS_HZ, peak_rows, spectrum
from lissom.show.axes import INK, PALETTE, SOFT, new_figure

from .figures import heading, keep, tidy

MASS_COLOURS = {"consistent": PALETTE[0], "lumped": PALETTE[1]}


def main() -> None:
    """Run both mass models, draw the figure, write the numbers."""
    figure = new_figure(7.2, 8.0)
    height, acceleration, amplitude = figure.subplots(3, 1, height_ratios=(1, 1, 1.5))
    for mass, colour in MASS_COLOURS.items():
        motion = spectrum({MASS: mass})
        label = f"{mass} mass"
        height.plot(motion.time, motion.height, color=colour, lw=1.2, label=label)
        acceleration.plot(motion.time, motion.acceleration, color=colour, lw=0.6)
        draw_spectrum(amplitude, motion, colour)
    draw_published(amplitude)
    for axes in (height, acceleration, amplitude):
        tidy(axes)
    height.set(ylabel="z of the elbow [m]", xlim=(0, 2))
    acceleration.set(ylabel="acceleration [m/s$^2$]", xlabel="time [s]", xlim=(0, 2))
    amplitude.set_ylabel("amplitude [m/s$^2$]")
    amplitude.set_xlabel("frequency [Hz]")
    amplitude.set(xlim=(0, 200), ylim=(1e-5, 100))
    heading(height, "L-shaped mechanism under a torque; dotted: published frequencies")
    height.legend(frameon=False, loc="lower right")
    keep("l-shape-torque", {"peaks": list(peak_rows())}, figure)


def draw_spectrum(axes, motion, colour: str) -> None:
    """Amplitude over frequency, a dot on every peak."""
    # The first value is the mean, at zero frequency.
    axes.semilogy(motion.frequency[1:], motion.amplitude[1:], color=colour, lw=1.0)
    for frequency in motion.peaks:
        nearest = abs(motion.frequency - frequency).argmin()
        axes.plot(frequency, motion.amplitude[nearest], "o", color=colour, ms=4)


def draw_published(axes) -> None:
    """Dotted lines at the frequencies that the paper prints."""
    for frequency in PEAKS_HZ:
        axes.axvline(frequency, color=SOFT, ls=":", lw=1.2)
        place = (frequency, 40)
        axes.annotate(f"{frequency:g}", place, ha="center", fontsize=8, color=INK)


if __name__ == "__main__":
    main()
