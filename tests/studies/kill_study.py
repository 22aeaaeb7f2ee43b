"""Kills a study again and again, and compares what comes out with one that nobody disturbed.

python tests/studies/kill_study.py FOLDER [RUNS [KILLS [LONGEST]]]

A kill comes within LONGEST seconds of a start, at a random moment. On a machine with much else to do, it takes longer
until the first chunk is there: give more.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import xarray as xr

LONGEST = 15.0  # [s] until a kill


def study_file(folder: Path, runs: int) -> Path:
    """A study of the double pendulum over E and payload, with about so many runs."""
    side = round(runs**0.5)
    file = folder / "study.yaml"
    file.write_text(
        "scenario: double-pendulum\n"
        "changes: {t_end: 0.2, output_dt: 0.01}\n"
        "over:\n"
        f"  links.*.beam.material.E: {{from: 150 GPa, to: 220 GPa, count: {side}}}\n"
        f"  payload.mass: {{from: 0, to: 1 kg, count: {side}}}\n"
        "metrics: [tip_deflection, torque_peak]\n"
    )
    return file


def command(file: Path, store: Path) -> list[str]:
    module = [sys.executable, "-m", "lissom.commands.cli"]
    return [*module, "sweep", str(file), "--store", str(store), "--json"]


def kept(store: Path) -> dict[str, tuple[int, int]]:
    """Every chunk that is there, with what would change if it were written again."""
    found = {}
    for path in (store / "chunks").glob("*/*.chunk"):
        facts = path.stat()
        found[path.name] = (facts.st_ino, facts.st_mtime_ns)
    return found


def killed_study(
    file: Path, store: Path, kills: int, seed: int, longest: float = LONGEST
) -> dict[str, int]:
    """Runs a study to its end through so many kills; how many chunks were lost or written twice on the way."""
    moments = random.Random(seed)
    lost = doubled = done_kills = fruitful = 0
    before: dict[str, tuple[int, int]] = {}
    while True:
        process = subprocess.Popen(
            command(file, store), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        is_last = done_kills >= kills
        try:
            process.wait(None if is_last else moments.uniform(0.0, longest))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            done_kills += 1
        now = kept(store)
        lost += len(set(before) - set(now))
        doubled += sum(now.get(name) != facts for name, facts in before.items())
        # Kills that came between two chunks, or while one was written.
        fruitful += process.returncode != 0 and len(now) > len(before)
        before = now
        if process.returncode == 0:
            found = {"kills": done_kills, "after_new_chunks": fruitful}
            return {**found, "lost": lost, "doubled": doubled}
        if process.returncode != -signal.SIGKILL:
            assert process.stderr is not None
            raise RuntimeError(process.stderr.read().decode())


def same_data(one: Path, other: Path) -> bool:
    """True if two datasets hold the same numbers, bit by bit."""
    with xr.open_dataset(one) as a, xr.open_dataset(other) as b:
        names = set(a.variables)
        return names == set(b.variables) and all(
            np.array_equal(a[name].values, b[name].values, equal_nan=True)
            for name in names
        )


def main(
    folder: Path, runs: int = 10_000, kills: int = 100, longest: float = LONGEST
) -> dict:
    folder.mkdir(parents=True, exist_ok=True)
    file = study_file(folder, runs)
    began = time.monotonic()
    undisturbed = subprocess.run(
        command(file, folder / "undisturbed"), check=True, capture_output=True
    )
    report = {"runs": json.loads(undisturbed.stdout)["done"]}
    report["undisturbed_s"] = time.monotonic() - began
    report |= killed_study(file, folder / "killed", kills, 1, longest)
    datasets = [folder / name / "dataset.nc" for name in ("undisturbed", "killed")]
    report["identical"] = same_data(*datasets)
    return report


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
