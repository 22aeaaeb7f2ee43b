"""Programs on disk are used again by the next process, and never after the code that they are made of has changed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import jaxnative
from jaxnative import clients, program_cache

COMPILER = Path(jaxnative.__file__).parent

PACKAGE = """
import os
from pathlib import Path

import jax
from jaxnative import clients, code_cache

jax.config.update("jax_enable_x64", True)
clients.add_client("physics", Path(__file__).parent, libraries=["tables"])
code_cache.keep_in(lambda: Path(os.environ["KEPT"]))
"""
SPRING = """
import equinox as eqx
from .stiffness import FACTOR

class Spring(eqx.Module):
    k: object

def force(spring, x):
    return -FACTOR * spring.k * x
"""
SCRIPT = """
import json
import sys

import numpy as np
import physics.spring as spring
from jaxnative.compiled import NativeAhead, using

force = NativeAhead(spring.force, lambda spring, x: spring)
with using("native"):
    found = force(spring.Spring(np.array([2.0, 0.0])), np.array([3.0, 5.0]))
# The translator is imported where a program has to be made.
print(json.dumps([np.asarray(found).tolist(), "jaxnative.translate" in sys.modules]))
"""


@pytest.fixture
def site(tmp_path):
    """A folder with a copy of the compiler and a client of it, which is all that a new process sees of either."""
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(COMPILER, site / "jaxnative", ignore=ignored)
    (site / "physics").mkdir()
    (site / "physics" / "__init__.py").write_text(PACKAGE)
    (site / "physics" / "spring.py").write_text(SPRING)
    (site / "physics" / "stiffness.py").write_text("FACTOR = 1.0\n")
    return site


def answer(site, kept=None):
    """Force of the spring in a new process, and whether its program was made there."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(site),
        "KEPT": str(kept or site.parent / "kept"),
        # So that Python too sees what is written within one second.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        cwd=site,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    force, is_made = json.loads(done.stdout)
    return force, is_made, done.stderr


def test_a_program_is_made_once_and_anew_when_its_client_s_physics_is_edited(site):
    assert answer(site)[:2] == ([-6.0, 0.0], True)
    assert answer(site)[:2] == ([-6.0, 0.0], False)
    # Of the same length, in another file than that of the function.
    (site / "physics" / "stiffness.py").write_text("FACTOR = 7.0\n")
    assert answer(site)[:2] == ([-42.0, 0.0], True)
    text = SPRING.replace("spring.k * x", "spring.k * x**2")
    (site / "physics" / "spring.py").write_text(text)
    assert answer(site)[:2] == ([-126.0, 0.0], True)
    assert answer(site)[:2] == ([-126.0, 0.0], False)
    # The old physics finds its own program again.
    (site / "physics" / "spring.py").write_text(SPRING)
    assert answer(site)[:2] == ([-42.0, 0.0], False)


def test_a_program_is_made_anew_when_the_compiler_is_edited(site):
    answer(site)
    rules = site / "jaxnative" / "elements.py"
    text = rules.read_text()
    product = "return mul_arrays("
    assert product in text
    rules.write_text(text.replace(product, "return add_arrays("))
    force, is_made, _ = answer(site)
    assert is_made and force != [-6.0, 0.0]


def test_a_program_is_made_anew_when_a_library_of_the_client_has_another_version(site):
    def install(version):
        facts = site / f"tables-{version}.dist-info"
        facts.mkdir()
        text = f"Metadata-Version: 2.1\nName: tables\nVersion: {version}\n"
        (facts / "METADATA").write_text(text)
        return facts

    old = install("1.0")
    assert [answer(site)[1] for _ in range(2)] == [True, False]
    shutil.rmtree(old)
    install("2.0")
    assert [answer(site)[1] for _ in range(2)] == [True, False]


def test_every_client_s_sources_stand_in_the_name_of_a_program(tmp_path, monkeypatch):
    monkeypatch.setattr(clients, "_clients", {})
    monkeypatch.setattr(program_cache, "source_digest", lambda folders: str(folders))
    names = set()
    for client in "one", "two":
        (tmp_path / client).mkdir()
        clients.add_client(client, tmp_path / client)
        names.add(program_cache.key_of("a program", "its structure"))
    assert len(names) == 2


# --- who can write there -------------------------------------------------------------------------------------------

needs_owners = pytest.mark.skipif(
    not hasattr(os, "geteuid"), reason="this system keeps rights in another way"
)


@needs_owners
def test_a_new_folder_of_programs_is_its_owner_s_alone(site):
    kept = site.parent / "kept"
    before = os.umask(0o002)
    try:
        answer(site)
    finally:
        os.umask(before)
    assert kept.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in kept.glob("*[0-9a-f]")} == {0o600}


@needs_owners
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_programs_of_a_folder_that_others_can_write_are_not_read(site, mode):
    answer(site)
    kept = site.parent / "kept"
    kept.chmod(mode)
    entries = sorted(kept.iterdir())
    force, is_made, said = answer(site)
    assert force == [-6.0, 0.0] and is_made
    assert said.count("others than you can write") == 1 and str(kept) in said
    # Nor is anything added there.
    assert sorted(kept.iterdir()) == entries
    kept.chmod(0o700)
    assert not answer(site)[1]


@needs_owners
def test_a_program_that_others_can_write_is_not_read(site):
    answer(site)
    for file in (site.parent / "kept").iterdir():
        file.chmod(0o622)
    force, is_made, _ = answer(site)
    assert force == [-6.0, 0.0] and is_made


@needs_owners
def test_programs_of_someone_else_are_not_read(site, tmp_path):
    answer(site)
    owner = "import os\nos.geteuid = lambda: os.getuid() + 1\n"
    (site / "physics" / "__init__.py").write_text(owner + PACKAGE)
    said = [answer(site) for _ in range(2)]
    assert all(is_made and "others than you" in text for _, is_made, text in said)
