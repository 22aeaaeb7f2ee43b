"""Check of the installation: versions, compiled code, devices, extras, and a self-test of a few seconds."""

import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from math import pi, sqrt
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import jax
from packaging.requirements import Requirement

from jaxnative.cache_bound import MOST_BYTES

from .. import __version__
from ..analyse.modes.modal import modes
from ..compiled_code import VARIABLE, cache_folder, usable
from ..describe import Robot
from ..files.summary import Result, Summary, plain
from ..parameters import SelfTest
from ..runs.simulation import simulate
from ..solve.model import Model

PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "equinox", "llvmlite", "xarray")
# Purpose of each extra; `cuda` is checked by the devices.
EXTRAS = {
    "plot": "pictures, by matplotlib",
    "fe": "links from finite-element files and CAD geometry",
    "ansys": "links from Ansys files",
    "control": "time-optimal motions, robust design of controllers, python-control",
    "studio": "robots in the browser",
    "cluster": "studies on many machines",
    "peers": "comparisons with Exudyn and Pinocchio",
}
LONGEST = 10.0  # [s] of the self-test, beyond which it ends with what it has
Verdict = Literal["ok", "missing", "failed"]


@dataclass(frozen=True)
class InstallationCheck:
    """Result of one check of the installation: verdict, what was found, and what to do."""

    name: str
    verdict: Verdict
    words: str  # what was found
    advice: str = ""  # what to do about it
    seconds: float | None = None

    def lines(self) -> tuple[str, ...]:
        """What was found, and advice below it."""
        time = "" if self.seconds is None else f" ({self.seconds:.1f} s)"
        found = f"{self.verdict:8} {self.name}: {self.words}{time}"
        return (found, f"{'':8} {self.advice}") if self.advice else (found,)


@dataclass(frozen=True, repr=False)
class Installation(Result):
    """Findings about the installation; sound unless one failed."""

    lissom: str
    python: str
    system: str
    packages: dict[str, str]
    devices: tuple[str, ...]
    findings: tuple[InstallationCheck, ...]

    @property
    def sound(self) -> bool:
        """False if a check failed."""
        return all(one.verdict != "failed" for one in self.findings)

    @property
    def passed(self) -> bool:
        """True if no check failed."""
        return self.sound

    def to_dict(self) -> dict[str, Any]:
        """Versions, devices and findings as plain data."""
        return plain(asdict(self) | {"sound": self.sound})

    def summary(self) -> Summary:
        """Versions, and one line or two for each finding."""
        versions = ", ".join(f"{name} {v}" for name, v in self.packages.items())
        findings = [line for one in self.findings for line in one.lines()]
        end = "sound" if self.sound else "not sound: see what failed above"
        parts = tuple(map(Summary, (versions, *findings, end)))
        title = f"lissom {self.lissom}, Python {self.python}, {self.system}"
        return Summary(title, parts=parts)


def doctor(self_test: SelfTest = True) -> Installation:
    """Versions, extras and self-test of this installation.

    Args:
        self_test: compute something with known answers too; ten seconds at most.

    Returns:
        Versions, devices and findings; `sound` is False where one of them failed.

    Example:
        >>> import lissom as ls
        >>> ls.doctor(self_test=False).sound
        True
    """
    devices = tuple(
        f"{device.platform} {device.device_kind}" for device in jax.devices()
    )
    findings = [_cache(), _gpu(devices), *map(_extra, EXTRAS)]
    if self_test:
        findings += _self_test()
    return Installation(
        lissom=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        packages={name: _version(name) or "missing" for name in PACKAGES},
        devices=devices,
        findings=tuple(findings),
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# --- environment ---------------------------------------------------------------------------------------------------


def _cache() -> InstallationCheck:
    """The cache of compiled code: its folder, size and limit."""
    folder = cache_folder()
    if folder is None:
        found = f"compiled code is not cached ({VARIABLE} switches it off, or there is no home)"
        advice = (
            f"every process compiles again; set {VARIABLE} to a folder to change that"
        )
        return InstallationCheck("cache", "missing", found, advice)
    if usable(folder) is None:
        advice = f"every process compiles again; set {VARIABLE} to a folder that can be written"
        return InstallationCheck(
            "cache", "failed", f"{folder} cannot be written", advice
        )
    count, size = _content(folder)
    # JAX's code and machine code have a bound each.
    most = 2 * MOST_BYTES
    found = (
        f"{folder}, {count} files, {size / 1e6:.0f} MB of at most {most / 1e6:.0f} MB"
    )
    return InstallationCheck("cache", "ok", found)


def _content(folder: Path) -> tuple[int, int]:
    """Number and size in bytes of the files in a folder."""
    count = size = 0
    for path in folder.rglob("*") if folder.exists() else ():
        try:
            if path.is_file():
                size += path.stat().st_size
                count += 1
        except OSError:
            # Another process has just deleted it.
            continue
    return count, size


def _gpu(devices: tuple[str, ...]) -> InstallationCheck:
    if any(not device.startswith("cpu") for device in devices):
        return InstallationCheck("devices", "ok", ", ".join(devices))
    if shutil.which("nvidia-smi") is None:
        found = "processors alone; graphics cards help with families of robots only"
        return InstallationCheck("devices", "ok", found)
    found = "there is an NVIDIA card that JAX does not see"
    return InstallationCheck("devices", "missing", found, "pip install 'lissom[cuda]'")


def _extra(extra: str) -> InstallationCheck:
    """The packages of an extra, as this installation declares them."""
    purpose = EXTRAS[extra]
    wanted = _packages_of(extra)
    missing = [name for name in wanted if _version(name) is None]
    if missing or not wanted:
        found = f"{purpose}: {', '.join(missing) or 'it is'} not installed"
        advice = f"pip install 'lissom[{extra}]'"
        return InstallationCheck(f"extra {extra}", "missing", found, advice)
    found = ", ".join(f"{package} {_version(package)}" for package in wanted)
    return InstallationCheck(f"extra {extra}", "ok", f"{purpose}: {found}")


def _packages_of(extra: str) -> list[str]:
    """Names of the packages that an extra requires on this machine."""
    names = []
    for wanted in map(Requirement, requires("lissom") or ()):
        marker = wanted.marker
        if marker is None or marker.evaluate({"extra": ""}):
            continue  # required without any extra
        if marker.evaluate({"extra": extra}):
            names.append(wanted.name)
    return names


# --- self-test -----------------------------------------------------------------------------------------------------

LENGTH, SIDE = 0.8, 0.02  # of a steel beam [m]
FIRST_ROOT = 1.8751040687  # of cos(x) cosh(x) = -1: a beam clamped at one end
DRIFT = 1e-5  # of the largest energy, at most


def _self_test() -> list[InstallationCheck]:
    """Computations with known answers, one after the other, until time is up."""
    began = perf_counter()
    tests: dict[str, Callable[[], tuple[bool, str]]] = {
        "vibration of a beam": _beam,
        "energy of a run": _energy,
    }
    findings = []
    for name, test in tests.items():
        start = perf_counter()
        if start - began > LONGEST:
            found = f"left out: {LONGEST:g} s are over"
            findings.append(InstallationCheck(name, "missing", found))
            continue
        try:
            is_right, found = test()
        except Exception as failure:
            # A broken installation may raise anything.
            is_right, found = False, f"{type(failure).__name__}: {failure}"
        verdict: Verdict = "ok" if is_right else "failed"
        advice = "" if is_right else "reinstall: pip install --force-reinstall lissom"
        seconds = perf_counter() - start
        findings.append(InstallationCheck(name, verdict, found, advice, seconds))
    return findings


def _robot():
    beam = {
        "path": [[0, 0, 0], [LENGTH, 0, 0]],
        "section": {"shape": "rectangle", "y": SIDE, "z": 2 * SIDE},
        "material": {"E": 2.1e11, "nu": 0.3, "density": 7850},
    }
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    link = {"name": "arm", "joint": joint, "beam": beam}
    return Robot.from_dict({"name": "beam", "gravity": [0, -9.81, 0], "links": [link]})


def _beam() -> tuple[bool, str]:
    """F = (x/L)^2 sqrt(E I / (rho A)) / 2 pi, I / A = side^2 / 12."""
    speed = sqrt(2.1e11 / 7850)
    exact = (FIRST_ROOT / LENGTH) ** 2 * speed * SIDE / sqrt(12) / (2 * pi)
    model = Model(_robot())
    found = float(modes(model, [0.0], locked=True, count=1).frequency_hz[0])
    words = f"{found:.4f} Hz, the closed form gives {exact:.4f} Hz"
    return abs(found - exact) < 1e-3 * exact, words


def _energy() -> tuple[bool, str]:
    """A beam that falls keeps its energy."""
    model = Model(_robot(), modes=2)
    run = simulate(model, [0.3], t_end=0.1, output_dt=0.005, progress=False)
    left = run.energy_residual
    words = f"residual {left:.0e} of the largest energy over {run.facts['steps']} steps"
    return left < DRIFT, words
