"""What others install: wheel and sdist hold the same files, work in a clean environment, and are typed from outside."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow

TYPED = """
import lissom as ls

model = ls.Model("simple-pendulum")
names: tuple[str, ...] = model.joint_names
run: ls.Run = ls.simulate(model, t_end=0.1)
wrong: int = model.joint_names
ls.simulate(model, throw="yes")
"""


LARGEST_MB = 994  # of a clean environment, as `du` counts

# Sources that this process may see must not stand in for what is installed.
OUTSIDE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*words, folder):
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=folder, text=True, capture_output=True, check=False, env=OUTSIDE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder with a wheel and an sdist, built in an environment of its own by the backend that pyproject.toml names."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "venv", folder / "tools", folder=folder)
    python = folder / "tools" / "bin" / "python"
    run(python, "-m", "pip", "install", "-qq", "hatchling>=1.25", folder=folder)
    run(python, "-m", "hatchling", "build", "-d", folder / "dist", folder=ROOT)
    return folder / "dist"


@pytest.fixture(scope="module")
def clean(built, tmp_path_factory):
    """Python of a clean environment in which the wheel is installed, with all that it asks for."""
    folder = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", folder / "env", folder=folder)
    python = folder / "env" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    run(python, "-m", "pip", "install", "-qq", wheel, folder=folder)
    return python


def test_the_wheel_holds_what_the_package_needs_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "lissom/py.typed",
        "lissom/robots/double-pendulum.yaml",
        "lissom/robots/ur5-meshes/upper.stl",
        "lissom/show/viewer.js",
    ):
        assert name in names
    assert not [name for name in names if "test" in name.split("/")[0]]
    sources = {path.relative_to(ROOT / "src") for path in _sources()}
    assert sources <= {Path(name) for name in names}
    assert wheel.stat().st_size < 5_000_000


def _sources():
    return (ROOT / "src" / "lissom").rglob("*.py")


def test_a_wheel_made_of_the_sdist_is_the_same(built, tmp_path):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        names = {Path(name).parts[1] for name in file.getnames() if "/" in name}
    assert {"src", "tests", "docs", "LICENSE", "pyproject.toml"} <= names
    wheel_of = (sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps")
    run(*wheel_of, "-w", tmp_path, sdist, folder=tmp_path)
    (direct,), (again,) = built.glob("*.whl"), tmp_path.glob("*.whl")
    contents = [_contents(wheel) for wheel in (direct, again)]
    assert contents[0] == contents[1]


def _contents(wheel):
    archive = zipfile.ZipFile(wheel)
    own = (name for name in archive.namelist() if "dist-info" not in name)
    return {name: archive.read(name) for name in own}


def test_a_clean_environment_computes(clean, tmp_path):
    where = run(clean, "-c", "import lissom; print(lissom.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(clean.parents[1])
    command = clean.parent / "lissom"
    text = run(command, "doctor", "--json", folder=tmp_path)
    answer = json.loads(text)
    assert answer["sound"] is True
    verdicts = {one["name"]: one["verdict"] for one in answer["findings"]}
    assert verdicts["vibration of a beam"] == "ok"
    # Nothing but what users need at once comes along.
    assert verdicts["extra peers"] == "missing"
    assert verdicts["extra plot"] == "missing"
    text = run(command, "modes", "simple-pendulum", "--json", folder=tmp_path)
    assert json.loads(text)["frequency_hz"]


def test_a_clean_environment_measures(clean, tmp_path):
    words = ("bench", "simple-pendulum", "--native", "--repeat", "1", "--json")
    report = json.loads(run(clean.parent / "lissom", *words, folder=tmp_path))
    assert [case["case"] for case in report["cases"]] == ["simple-pendulum"]
    # Known numbers that are read from a file of the package.
    known = "from lissom.bench.physics_checks import keypoints as k; print(k('spatial', 'GE'))"
    assert "0.25" in run(clean, "-c", known, folder=tmp_path)


def test_a_clean_environment_is_no_larger_than_it_may_be(clean):
    files = [path for path in clean.parents[1].rglob("*") if not path.is_symlink()]
    blocks = sum(path.stat().st_blocks for path in files)
    assert blocks * 512 / 2**20 < LARGEST_MB


def test_types_are_seen_from_outside(clean, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(TYPED)
    command = (sys.executable, "-m", "pyright", "--pythonpath", clean, "--outputjson")
    done = subprocess.run(
        [*map(str, command), str(script)],
        text=True,
        capture_output=True,
        check=False,
        env=OUTSIDE,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = sorted(
        one["range"]["start"]["line"] for one in found if one["severity"] == "error"
    )
    # The two lines that are wrong, and no others.
    assert lines == [6, 7], found
