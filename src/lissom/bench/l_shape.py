"""The L-shaped mechanism of [Vidoni2015]: its three tests, its printed numbers beside ours, and a verdict on each.

The printed Table 2 does not follow from the printed Table 1. Its rigid row needs lumped nodal masses, its last row also
E = 9e9 Pa in place of the printed 2e11; both are inferred from the numbers, the paper does not say so. That rows 16 and
18 are equal speaks for point masses without rotary inertia, which leave fewer modes with mass than 12: with them row 16
equals row 18 here too, 113.52 deg, within 3.6 mm of the print. Rows between depend on the order in which modes were
dropped, and are not reproduced by any choice here.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import find_peaks
from scipy.signal.windows import blackmanharris

from ..analyse.modes.modal import modes
from ..describe.scenario import Scenario
from ..types import Float
from .cases import Log, compiled_case
from .physics_checks import bound, keypoints, row

MASS = "links.beam.beam.mass"
MODULUS = "links.beam.beam.material.E"
LUMPED = {MASS: "lumped"}
SOFT = {MASS: "lumped", MODULUS: 9e9}
SOFT_POINTS = {MASS: "lumped-points", MODULUS: 9e9}
TOLERANCES: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-9}
TIGHT: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}

# [Vidoni2015] Table 2 at 0.5 s: modes with the six rigid ones, theta [deg], X Y Z of nodes 3 and 5 [m].
TABLE_2 = {
    6: (125.90, -0.2931, 0.0, -0.4050, -0.2931, 0.0, -0.4050),
    8: (115.30, -0.2139, -0.0357, -0.4520, -0.2607, 0.4643, -0.5509),
    10: (114.30, -0.2061, -0.0491, -0.4555, -0.2596, 0.4509, -0.5735),
    12: (114.25, -0.2044, -0.0500, -0.4563, -0.2615, 0.4500, -0.5741),
    14: (114.20, -0.2027, -0.0509, -0.4571, -0.2635, 0.4491, -0.5766),
    16: (113.50, -0.1970, -0.0637, -0.4596, -0.2626, 0.4491, -0.5955),
    18: (113.50, -0.1970, -0.0637, -0.4596, -0.2626, 0.4362, -0.5955),
}
# Y of node 5 cannot be as printed in these rows: the second rod is 0.5 m long. Column and the value taken instead.
SLIPS = {6: (5, 0.5), 16: (5, 0.4363)}

# What counts as reproduced.
NEAR_M = 3e-3
NEAR_DEG = 0.5

# Independent floating-frame computation of the same four elements [deg, m]: encoder, node 3, node 5 at 0.5 s.
HALF_SECOND = {
    "consistent": (127.99, -0.3078, -0.0018, -0.3941, -0.3108, 0.4982, -0.3975),
    "lumped": (125.41, -0.2897, -0.0019, -0.4075, -0.2925, 0.4981, -0.4114),
}
# The same over 2 s: time [s], tip [m].
SWING = {
    "consistent": {
        0.25: (0.3926, 0.4985, -0.3155),
        0.5: (-0.3108, 0.4982, -0.3975),
        1.0: (-0.4469, 0.4989, -0.2302),
        1.2: (0.0434, 0.4977, -0.5040),
        1.5: (0.4990, 0.4999, -0.0377),
        2.0: (-0.0722, 0.4977, -0.5006),
    },
    "lumped": {
        0.25: (0.3987, 0.4986, -0.3076),
        0.5: (-0.2925, 0.4981, -0.4114),
        1.0: (-0.4607, 0.4991, -0.2000),
        1.2: (-0.0179, 0.4977, -0.5055),
        1.5: (0.4969, 0.4997, -0.0614),
        2.0: (0.0298, 0.4977, -0.5050),
    },
}
RIGID_DEG = 128.507  # consistent mass, with the torsional inertia of the second rod; 128.528 for slender rods
PEAKS_HZ = (11.0, 31.0, 113.0, 171.0)  # [Vidoni2015] sec. 6.3
NEAR_PEAK = (
    0.12  # of a published frequency: the torque is lost, and no mass matches all four
)
VISIBLE = 0.01  # amplitude, against the largest, of a peak that is found: it shows in a figure
HIGHEST_HZ = 250.0  # of the spectrum
TORQUE_ENDS = 0.3  # [s]; the vibration after it is free
DERIVED = "derived: independent floating-frame computation of the same four elements"


class Spectrum(NamedTuple):
    """The elbow's vertical acceleration after the torque has ended, and the peaks in it."""

    time: Float[np.ndarray, " t"]  # of the whole run [s]
    height: Float[np.ndarray, " t"]  # z of the elbow [m]
    acceleration: Float[np.ndarray, " t"]  # [m/s^2]
    frequency: Float[np.ndarray, " f"]  # [Hz]
    amplitude: Float[np.ndarray, " f"]  # [m/s^2]
    peaks: Float[np.ndarray, " p"]  # [Hz]


def lowest(count: int) -> dict[str, Any]:
    """So many of the lowest modes of the free link, as [Vidoni2015] keeps them."""
    return {"count": count, "ranking": "free"}


def state_at_half_second(changes: dict[str, Any]) -> tuple[float, float, np.ndarray]:
    """Theta and encoder [deg], and the coordinates of nodes 3 and 5 [m] of the falling L at 0.5 s."""
    scenario = Scenario.load("l-shape").replace({"output_dt": 0.01, **changes})
    run = compiled_case(scenario).run(**TOLERANCES)
    # The paper counts nodes from 1, we from 0.
    elbow = run.position("beam/2")[-1]
    tip = run.position("beam/tip")[-1]
    nodes = np.concatenate([elbow, tip])
    theta = float(np.degrees(run.q[-1, 0]))
    encoder = float(np.degrees(run.data["encoder"].values[-1, 0]))
    return theta, encoder, nodes


def convergence_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """V15-1: values that follow from the described mechanism, and the two rows of Table 2 that can be reached."""
    log("L-shaped mechanism, 0.5 s")
    yield from _rigid_rows()
    for mass, known in HALF_SECOND.items():
        _, encoder, nodes = state_at_half_second({MASS: mass})
        yield row(
            check=f"L-shape, E 2e11, {mass} mass: encoder at 0.5 s",
            source=DERIVED,
            known=known[0],
            ours=encoder,
            unit="deg",
            tolerance=0.02,
        )
        yield row(
            check=f"L-shape, E 2e11, {mass} mass: nodes 3 and 5 at 0.5 s",
            source=DERIVED,
            known=known[1:],
            ours=nodes,
            unit="m",
            tolerance=3e-4,
        )
    theta, _, nodes = state_at_half_second(SOFT)
    inferred = "[Vidoni2015] Table 2, 18 modes; E = 9e9 and lumped mass are inferred"
    yield row(
        check="L-shape, E 9e9, lumped mass: theta at 0.5 s",
        source=inferred,
        known=TABLE_2[18][0],
        ours=theta,
        unit="deg",
        tolerance=NEAR_DEG,
    )
    yield row(
        check="L-shape, E 9e9, lumped mass: nodes 3 and 5 at 0.5 s",
        source=inferred,
        known=TABLE_2[18][1:],
        ours=nodes,
        unit="m",
        tolerance=NEAR_M,
    )


def _rigid_rows() -> Iterator[dict[str, Any]]:
    _, encoder, _ = state_at_half_second({"modes": 0})
    yield row(
        check="L-shape, rigid, consistent mass: theta at 0.5 s",
        source="derived: two rods",
        known=RIGID_DEG,
        ours=encoder,
        unit="deg",
        tolerance=0.02,
    )
    _, encoder, nodes = state_at_half_second({"modes": 0, **LUMPED})
    printed = "[Vidoni2015] Table 2, 6 modes"
    yield row(
        check="L-shape, rigid, lumped mass: theta at 0.5 s",
        source=printed,
        known=TABLE_2[6][0],
        ours=encoder,
        unit="deg",
        tolerance=0.05,
    )
    at_elbow = (-0.2931, -0.4050)
    yield row(
        check="L-shape, rigid, lumped mass: X and Z of node 3 at 0.5 s",
        source=printed,
        known=at_elbow,
        ours=nodes[[0, 2]],
        unit="m",
        tolerance=5e-4,
    )


def swing_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """V15-2: two seconds with 18 and with all 30 modes, against a table, another program, and `erls-fem`."""
    paths: dict[Any, np.ndarray] = {}
    for count in (12, 24):
        for mass, table in SWING.items():
            # The paper counts the six rigid modes too.
            modes_printed = count + 6
            log(f"L-shaped mechanism, 2 s, {modes_printed} modes, {mass} mass")
            path = swing({"modes": lowest(count), MASS: mass})
            paths[count, mass] = path
            yield bound(
                check=f"L-shape, 2 s, {modes_printed} modes, {mass} mass: tip at 6 times",
                source=DERIVED,
                limit=5e-4,
                ours=gap_at(path, table),
                unit="m",
            )
    names = {"FFRF": "linear floating frames", "GE": "geometrically exact beams"}
    for model, title in names.items():
        points = keypoints("lshape", model)
        gaps = [gap_at(paths[count, "consistent"], points) for count in (12, 24)]
        yield bound(
            check=f"L-shape, 2 s: tip against {title}, {len(points)} times",
            source="Exudyn 1.13.6, converged",
            limit=1e-3,
            ours=max(gaps),
            unit="m",
        )
    log("L-shaped mechanism, 2 s, erls-fem")
    nodal = swing(
        {"formulation": "erls-fem", "modes": None, "reference": "minimum-norm"}
    )
    gap = float(np.abs(paths[24, "consistent"] - nodal).max())
    yield bound(
        check="L-shape, 2 s: all modes kept against erls-fem, tip",
        source="same motion",
        limit=1e-6,
        ours=gap,
        unit="m",
    )


def swing(changes: dict[str, Any]) -> np.ndarray:
    """Path of the tip over two seconds, every 0.01 s."""
    scenario = Scenario.load("l-shape-swing").replace({"output_dt": 0.01, **changes})
    return compiled_case(scenario).run(**TIGHT).position("beam/tip")


def gap_at(path: np.ndarray, points: Any) -> float:
    """Largest difference of a coordinate at the times of a table [m]."""
    gaps = []
    for t, point in points.items():
        gap = path[round(100 * t)] - np.asarray(point)
        gaps.append(float(np.abs(gap).max()))
    return max(gaps)


def table_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """Every row of the published Table 2 beside ours, as printed and as inferred, with a verdict."""
    for count, printed in TABLE_2.items():
        log(f"[Vidoni2015] Table 2, {count} modes")
        known = list(printed)
        if count in SLIPS:
            column, value = SLIPS[count]
            known[column] = value
        ours: dict[str, list[float]] = {}
        gaps: dict[str, tuple[float, float]] = {}
        for name, how in WAYS.items():
            theta, _, nodes = state_at_half_second({"modes": lowest(count - 6), **how})
            ours[name] = [theta, *nodes.tolist()]
            gaps[name] = _gap(known, theta, nodes)
        yield {
            "modes": count,
            "published": list(printed),
            "slip": "Y of node 5" if count in SLIPS else None,
            "ours": ours,
            "difference_deg": {name: gap[0] for name, gap in gaps.items()},
            "difference_m": {name: gap[1] for name, gap in gaps.items()},
            "verdict": verdict(gaps),
        }


WAYS: dict[str, dict[str, Any]] = {
    "as printed": {},
    "lumped mass": LUMPED,
    "lumped mass, E 9e9": SOFT,
    "lumped point masses, E 9e9": SOFT_POINTS,
}


def _gap(known: list[float], theta: float, nodes: np.ndarray) -> tuple[float, float]:
    """How far theta [deg] and the farthest coordinate [m] are from those of the table."""
    angle = abs(theta - known[0])
    length = float(np.abs(nodes - np.asarray(known[1:])).max())
    return angle, length


def verdict(gaps: dict[str, tuple[float, float]]) -> str:
    """Whether a row is reproduced, and by what."""
    close = []
    for name, (angle, length) in gaps.items():
        if angle <= NEAR_DEG and length <= NEAR_M:
            close.append(name)
    if "as printed" in close:
        return "reproduced as printed"
    if close:
        return f"not as printed; reproduced with {close[0]}"
    best = min(gaps, key=lambda name: gaps[name][1])
    off_mm = 1e3 * gaps[best][1]
    return f"NOT reproduced: {off_mm:.0f} mm off at best ({best})"


def spectrum(changes: dict[str, Any] | None = None, step: float = 5e-4) -> Spectrum:
    """V15-3: the elbow's acceleration under the torque, in time and frequency.

    Second differences of the height every `step`; the free vibration after the torque, under a Blackman-Harris window.
    A peak is a local maximum of at least 1e-4 of the largest, within 1 % of a natural frequency at the start: sums and
    differences of other peaks are none.
    """
    changes = {"output_dt": step, **(changes or {})}
    case = compiled_case(Scenario.load("l-shape-torque").replace(changes))
    run = case.run(**TIGHT)
    height = run.position("beam/2")[:, 2]
    # Second differences have no value at the first and the last instant.
    acceleration = np.diff(height, 2) / step**2
    time = run.t[1:-1]
    frequency, amplitude = _amplitudes(acceleration[time > TORQUE_ENDS], step)
    natural = modes(case.model, case.state, count=None).frequency_hz
    return Spectrum(
        time,
        height[1:-1],
        acceleration,
        frequency,
        amplitude,
        _natural_peaks(frequency, amplitude, natural),
    )


def _amplitudes(signal: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies [Hz] and amplitudes of the sines in a signal that is sampled every `step` [s]."""
    window = np.asarray(blackmanharris(len(signal), sym=False))
    # Zeros behind the signal make the grid of frequencies eight times finer.
    size = 8 * len(signal)
    lines = np.fft.rfft((signal - signal.mean()) * window, size)
    amplitude = 2 * np.abs(lines) / window.sum()
    frequency = np.fft.rfftfreq(size, step)
    band = frequency < HIGHEST_HZ
    return frequency[band], amplitude[band]


def _natural_peaks(
    frequency: np.ndarray, amplitude: np.ndarray, natural: np.ndarray
) -> np.ndarray:
    """Frequencies of local maxima that are natural frequencies too [Hz]."""
    # Shoulders of a peak are none: two peaks stand at least 3 Hz apart.
    apart = round(3.0 / frequency[1])
    maxima, _ = find_peaks(amplitude, height=1e-4 * amplitude.max(), distance=apart)
    peaks = []
    for f in frequency[maxima]:
        # Peaks elsewhere are sums and differences of natural frequencies: the motion is not small.
        if np.abs(natural / f - 1).min() < 0.01:
            peaks.append(f)
    return np.array(peaks)


def peak_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """The four published frequencies, the peak of ours that belongs to each, its amplitude, and whether it counts."""
    for mass in ("consistent", "lumped"):
        log(f"L-shaped mechanism under torque, {mass} mass")
        found = spectrum({MASS: mass})
        for published in PEAKS_HZ:
            yield {"mass": mass, **peak_near(published, found)}


def peak_near(published: float, found: Spectrum) -> dict[str, Any]:
    """The peak nearest a published frequency, with a verdict: a peak that the eye does not see is absent."""
    nearest = found.peaks[np.abs(found.peaks - published).argmin()]
    line = np.abs(found.frequency - nearest).argmin()
    amplitude = float(found.amplitude[line])
    share = amplitude / float(found.amplitude.max())
    deviation = float(nearest / published - 1)
    verdict = "found"
    if abs(deviation) > NEAR_PEAK:
        verdict = f"absent: none within {100 * NEAR_PEAK:.0f} %"
    elif share < VISIBLE:
        verdict = f"absent: {100 * share:.2g} % of the largest"
    return {
        "published_hz": published,
        "ours_hz": float(nearest),
        "deviation": deviation,
        "amplitude": amplitude,
        "share": share,
        "verdict": verdict,
    }


def peak_checks(peaks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The first three peaks within 12 %, with the mass in which each is found.

    That is what a mechanism with a lost torque can be held to.
    """
    source = "[Vidoni2015] sec. 6.3; torque chosen"
    for known in PEAKS_HZ[:3]:
        near = [peak for peak in peaks if peak["published_hz"] == known]
        # Where it is found with both, that of the consistent mass, which comes first.
        peak = min(near, key=lambda peak: peak["verdict"] != "found")
        mass = "" if peak["mass"] == "consistent" else f", {peak['mass']} mass"
        yield row(
            check=f"L-shape under torque: peak near {known:g} Hz, elbow's acceleration{mass}",
            source=source,
            known=known,
            ours=peak["ours_hz"] if peak["verdict"] == "found" else np.nan,
            unit="Hz",
            tolerance=NEAR_PEAK,
            relative=True,
        )
