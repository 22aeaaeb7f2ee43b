"""What every command line of README, docs and help prints, kept and compared: `make goldens`.

Each command runs in a process of its own with an empty `LISSOM_CACHE`, once as it is written and once with `--json`.
Kept are its exit code, what it printed, and digests of the arrays in the files it wrote. Durations, folders and
versions are masked. A page is one folder: its files are there, and its commands run in their order.

    make goldens             compare with tests/goldens; exit code 1 where something differs
    make goldens RECORD=1    keep what is printed now
    make goldens RTOL=1e-9   numbers may differ by this much, relative to the largest of their array
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "docs" / "_site")]

import numpy as np  # noqa: E402
from command_reference import EXAMPLE, lissom  # noqa: E402

from page_blocks import DATA, PAGES, SHELL, all_blocks, commands_of  # noqa: E402

KEPT = ROOT / "tests" / "goldens"
LIMIT_S = 600.0  # for one command
# Commands that print nothing but times, or that do not end by themselves.
SKIPPED = {
    "studio": "a server: it runs until it is stopped",
    "bench": "prints times; its rows of physics have tests of their own",
    "doctor": "describes the machine",
}
# What a help text takes for granted: files that a reader would have.
ROBOT = ROOT / "src/lissom/robots/double-pendulum.yaml"
BAD_LINES = (
    "lissom modes no-such-robot",
    "lissom modes double-pendulum --q 1",
    "lissom modes double-pendulum --count 0",
    "lissom static double-pendulum --torque 1,2",
    "lissom simulate double-pendulum --set t_end=-1",
    "lissom simulate double-pendulum --set no.such.key=1",
    "lissom simulate double-pendulum -o run.txt",
    "lissom linearize double-pendulum --q a,b",
    "lissom step-response double-pendulum --inputs nobody --outputs lower/tip.py",
    "lissom mode-map double-pendulum --over nobody=0:1:3",
    "lissom sweep double-pendulum --over payload.mass=0:1 --metric nothing",
    "lissom validate missing.yaml",
    "lissom compare missing.nc other.nc",
    "lissom control compare missing.yaml",
    "lissom reduce missing.npz",
    "lissom import missing.urdf",
    "lissom nothing",
)

# --- masks ---------------------------------------------------------------------------------------------------------

MASKED_KEYS = {"wall_s", "cached", "cache", "version", "lissom"}
MASKED_KEYS |= {"microseconds", "compute_seconds", "seconds"}
DURATION = r"\d+(?:\.\d+)?(?:e[-+]?\d+)? ?(?:us|ms|s|min|h)\b"
MASKS = (
    (re.compile(rf"build {DURATION}, compile {DURATION}, run {DURATION}.*"), "<times>"),
    (re.compile(rf"\b(in|after|took|takes|about) {DURATION}"), r"\1 <time>"),
    (re.compile(r"compiled code: .*"), "<compiled code>"),
    # How long commands tell where they are.
    (re.compile(r"^lissom [\w-]+: \d+ s: .*\n?", re.MULTILINE), ""),
    (re.compile(r"\blissom \d+\.\d+\.\d+[\w.]*"), "lissom <version>"),
    (re.compile(rf"{DURATION} (per|a) (run|step|sample)"), "<time> a run"),
)


def masked_text(text: str, folder: Path) -> str:
    """Text without durations, folders and versions."""
    text = text.replace(str(folder), "<folder>").replace(str(ROOT), "<project>")
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    if "time: of a sample [us]" in text:
        # The last column of a comparison of controllers.
        text = re.sub(r" +[\d.]+ │$", " <time> │", text, flags=re.MULTILINE)
    # Tables are as wide as what stands in them.
    return "\n".join(line.rstrip() for line in text.splitlines())


def masked_data(data: Any, folder: Path) -> Any:
    """JSON without durations, folders and versions."""
    if isinstance(data, dict):
        return {
            key: "<masked>" if key in MASKED_KEYS else masked_data(value, folder)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [masked_data(value, folder) for value in data]
    return masked_text(data, folder) if isinstance(data, str) else data


# --- pages as lists of steps ---------------------------------------------------------------------------------------


@dataclass
class Page:
    """A folder full of commands: files first, then steps in their order."""

    name: str
    # ("file", name, text), ("python", code) or ("line", command)
    steps: list[tuple[str, ...]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        """A command line, or the reason why it is left out."""
        words = shlex.split(line, comments=True)
        if words[0] != "lissom":
            self.skipped.append(f"{line}: another program")
        elif len(words) > 1 and words[1] in SKIPPED and "--help" not in words:
            self.skipped.append(f"{line}: {SKIPPED[words[1]]}")
        else:
            self.steps.append(("line", shlex.join(words[1:])))


def pages() -> list[Page]:
    """Everything that is run: pages, the tutorial as one, help, and lines with mistakes."""
    found = []
    tutorial = Page("tutorial")
    for path in PAGES:
        in_tutorial = path.parent.name == "tutorial"
        name = str(path.relative_to(ROOT).with_suffix("")).replace("/", "-")
        page = tutorial if in_tutorial else Page(name)
        _read(path, page)
        if not in_tutorial and any(kind == "line" for kind, *_ in page.steps):
            found.append(page)
    return [*found, tutorial, help_examples(), mistakes(), *help_pages()]


def _read(path: Path, page: Page) -> None:
    for block in all_blocks(path):
        if block.reason is not None:
            if block.language in SHELL:
                for line, _ in commands_of(block):
                    page.skipped.append(f"{line}: {block.reason}")
        elif block.language in DATA:
            page.steps.append(("file", block.file, block.text))
        elif block.language == "python":
            page.steps.append(("python", block.text))
        elif block.language in SHELL:
            for line, _ in commands_of(block):
                page.add(line)


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(f"{path} {name}".strip(), inner)


def _all_commands() -> list[tuple[str, Any]]:
    from typer.main import get_command

    return list(_commands("", get_command(lissom.complete())))


def help_examples() -> Page:
    """The examples of all help texts, in one folder with the files that they name."""
    page = Page("help-examples")
    text = ROBOT.read_text(encoding="utf-8")
    for name in ("robot.yaml", "arm.yaml"):
        page.steps.append(("file", name, text))
    for name, end in (("a.nc", "0.1"), ("b.nc", "0.1 --set payload.mass=1")):
        page.add(f"lissom simulate double-pendulum --t-end {end} -o {name}")
    for _, command in _all_commands():
        for paragraph in (command.help or "").replace("\b", "").split("\n\n"):
            words = " ".join(paragraph.split())
            if words.startswith(("Examples:", "Example:", "First steps:")):
                for line in EXAMPLE.findall(words):
                    page.add(line.rstrip(".,"))
    return page


def help_pages() -> list[Page]:
    """`--help` of every command."""
    page = Page("help")
    for path, _ in _all_commands():
        page.add(f"lissom {path} --help")
    return [page]


def mistakes() -> Page:
    """Command lines that must be refused."""
    page = Page("mistakes")
    for line in BAD_LINES:
        page.add(line)
    return page


# --- running -------------------------------------------------------------------------------------------------------


def environment(cache: Path) -> dict[str, str]:
    """A quiet terminal of fixed width, and an empty cache."""
    keep = {key: value for key, value in os.environ.items() if "JAX" not in key}
    return {
        **keep,
        "LISSOM_CACHE": str(cache),
        "COLUMNS": "160",
        "NO_COLOR": "1",
        "PYTHONPATH": str(ROOT / "src"),
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
    }


def run_line(words: list[str], folder: Path) -> dict[str, Any]:
    """A command in a process of its own: exit code and what it printed."""
    with tempfile.TemporaryDirectory() as cache:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "lissom", *words],
                cwd=folder,
                env=environment(Path(cache)),
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return {"exit": "timed out", "stdout": "", "stderr": ""}
    return {
        "exit": done.returncode,
        "stdout": masked_text(done.stdout, folder),
        "stderr": masked_text(done.stderr, folder),
        "raw": done.stdout,
    }


def run_page(page: Page) -> dict[str, Any]:
    """Everything that the commands of a page gave."""
    records: dict[str, Any] = {}
    code = ""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "page")
        folder.mkdir()
        (folder / "src").symlink_to(ROOT / "src")
        for number, (kind, *rest) in enumerate(page.steps):
            if kind == "file":
                (folder / rest[0]).write_text(rest[1], encoding="utf-8")
            elif kind == "python":
                code = f"{code}\n{rest[0]}"
                if _is_needed(rest[0], page.steps[number + 1 :]):
                    _run_python(code, folder)
            else:
                _run_both(rest[0], folder, records)
    return {"skipped": page.skipped, "commands": records}


def _is_needed(code: str, later: list[tuple[str, ...]]) -> bool:
    """True if a later command names a file that this code names too."""
    files = set(re.findall(r"[\"']([\w./-]+\.\w+)[\"']", code))
    words = {
        word for kind, *rest in later if kind == "line" for word in rest[0].split()
    }
    return bool(files & words)


def _run_python(code: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as cache:
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=environment(Path(cache)),
            capture_output=True,
            timeout=LIMIT_S,
        )


def _run_both(line: str, folder: Path, records: dict[str, Any]) -> None:
    """A command as it is written, and with `--json` in a copy of its folder."""
    words = shlex.split(line)
    takes_json = "--json" not in words and "--help" not in words
    twin = folder.parent / "twin" / "page"
    if takes_json:
        shutil.copytree(folder, twin, symlinks=True)
    before = _stamps(folder)
    record = run_line(words, folder)
    printed = record.pop("raw", "")
    if "--json" in words:
        record["stdout"] = _json_or_text(printed, folder)
    record["files"] = _written(folder, before)
    if takes_json:
        answer = run_line([*words, "--json"], twin)
        data = _json_or_text(answer.pop("raw", ""), twin)
        record["json"] = {
            "exit": answer["exit"],
            "stdout": data,
            "stderr": answer["stderr"],
        }
        shutil.rmtree(twin.parent)
    key = f"lissom {line}"
    while key in records:
        key += " "
    records[key] = record


def _json_or_text(text: str, folder: Path) -> Any:
    try:
        return masked_data(json.loads(text), folder)
    except ValueError:
        return masked_text(text, folder)


def _stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    stamps = [(path.stat().st_mtime_ns, path.stat().st_size) for path in files]
    return dict(zip(files, stamps, strict=True))


def _written(folder: Path, before: dict[Path, tuple[int, int]]) -> dict[str, Any]:
    """New and changed files, each with its arrays as digests."""
    found = {}
    for path, stamp in sorted(_stamps(folder).items()):
        if before.get(path) != stamp:
            found[str(path.relative_to(folder))] = _arrays_of(path)
    return found


def _arrays_of(path: Path) -> Any:
    """Digest of each array in a file of results; None for pictures and pages."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return {name: _digest(file[name]) for name in sorted(file.files)}
    if path.suffix == ".nc":
        import xarray

        with xarray.open_dataset(path) as data:
            names = sorted(map(str, data.variables))
            return {name: _digest(data[name].values) for name in names}
    if path.suffix in (".csv", ".yaml"):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return None


def _digest(array: Any) -> str:
    values = np.ascontiguousarray(array)
    if values.dtype.kind in "OU":
        content = repr(values.tolist()).encode()
    else:
        content = values.tobytes()
    return f"{values.dtype} {values.shape} {hashlib.sha256(content).hexdigest()[:16]}"


# --- comparing -----------------------------------------------------------------------------------------------------


def differences(old: Any, new: Any, rtol: float, place: str = "") -> Iterator[str]:
    """Places where two records differ; numbers by more than `rtol`."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            where = f"{place}.{key}" if place else str(key)
            if key not in new:
                yield f"{where}: missing now"
            elif key not in old:
                yield f"{where}: new"
            else:
                yield from differences(old[key], new[key], rtol, where)
    elif _is_numbers(old) and _is_numbers(new) and np.shape(old) == np.shape(new):
        gap = np.max(np.abs(np.subtract(new, old)), initial=0.0)
        size = np.max(np.abs(np.asarray(old, dtype=float)), initial=0.0)
        if old != new and not gap <= rtol * size:
            yield f"{place}: numbers differ by {gap:.3g} of {size:.3g}"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, rtol, f"{place}[{k}]")
    elif old != new and repr(old) != repr(new):
        yield f"{place}: {_short(old)} -> {_short(new)}"


def _is_numbers(value: Any) -> bool:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return True
    return isinstance(value, list) and bool(value) and all(map(_is_numbers, value))


def _short(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        lines = value.splitlines()
        return f"{len(lines)} lines, {lines[0][:60]!r} ..."
    return repr(value)[:100]


def compared(page: Page, record: dict[str, Any], rtol: float) -> list[str]:
    """What differs between a page now and as it was kept."""
    file = KEPT / f"{page.name}.json"
    if not file.exists():
        return ["no record: make goldens RECORD=1"]
    kept = json.loads(file.read_text(encoding="utf-8"))
    found = []
    for line in [*kept["commands"], *record["commands"]]:
        old, new = (data["commands"].get(line) for data in (kept, record))
        if old is None or new is None:
            found.append(f"{line}: {'no longer there' if new is None else 'new'}")
            continue
        found += [f"{line}: {text}" for text in differences(old, new, rtol)]
    return list(dict.fromkeys(found))


def main() -> int:
    """Runs every page, two at a time, and compares or keeps what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="keep what comes out")
    parser.add_argument("--only", help="pages whose name contains this text")
    parser.add_argument("--rtol", type=float, default=0.0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = [page for page in pages() if (options.only or "") in page.name]
    # The longest first, so that the last one does not leave a core idle.
    chosen.sort(key=lambda page: -len(page.steps))
    KEPT.mkdir(exist_ok=True)
    began = time.monotonic()
    differing = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(run_page, page): page for page in chosen}
        for done in concurrent.futures.as_completed(running):
            page, record = running[done], done.result()
            count = len(record["commands"])
            if options.record:
                text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
                (KEPT / f"{page.name}.json").write_text(text, encoding="utf-8")
                print(f"{page.name}: {count} commands kept", flush=True)
                continue
            found = compared(page, record, options.rtol)
            differing += len(found)
            print(
                f"{page.name}: {count} commands, {len(found)} differences", flush=True
            )
            for text in found:
                print(f"  {text}", flush=True)
    print(f"{sum(len(page.skipped) for page in chosen)} lines left out:")
    for page in chosen:
        for text in page.skipped:
            print(f"  {page.name}: {text}")
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
