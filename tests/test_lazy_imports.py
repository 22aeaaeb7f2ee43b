"""Modules of other packages that wait for their first use are then what they would have been."""

import importlib
import subprocess
import sys
import types

import pytest

from lissom.lazy_imports import LazyFinder, load_lazily, names_passed_on


def in_new_process(*lines):
    program = "\n".join(("import sys", *lines))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def parcel(tmp_path, monkeypatch):
    """A package whose `names` waits, and counts how often it is executed."""
    folder = tmp_path / "parcel"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import names as names")
    (folder / "left.py").write_text("def one(): return 1\ntwo = 2")
    (folder / "right.py").write_text("raise ImportError('right is not wanted')")
    names = "from .left import one as one, two as second\nfrom .right import no as no"
    (folder / "names.py").write_text(names)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("lissom.lazy_imports.LAZY", frozenset({"parcel.names"}))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    load_lazily()
    yield importlib.import_module("parcel")
    for name in [name for name in sys.modules if name.partition(".")[0] == "parcel"]:
        del sys.modules[name]


def test_a_name_is_fetched_from_where_it_is_defined(parcel):
    assert "parcel.left" not in sys.modules
    assert parcel.names.second == 2
    assert parcel.names.one is sys.modules["parcel.left"].one
    assert "parcel.right" not in sys.modules


def test_any_other_question_executes_the_whole_module(parcel):
    with pytest.raises(ImportError, match="right is not wanted"):
        dir(parcel.names)
    sys.modules["parcel.right"] = types.ModuleType("parcel.right")
    sys.modules["parcel.right"].__dict__["no"] = "no"
    assert {"one", "second", "no"} <= set(dir(parcel.names))
    assert type(parcel.names) is types.ModuleType
    with pytest.raises(AttributeError, match="has no attribute 'three'"):
        _ = parcel.names.three


def test_a_module_that_does_more_than_pass_names_on_is_loaded_as_ever():
    assert names_passed_on("from .a import b as c", "p") == {"c": ("p.a", "b")}
    assert names_passed_on("from .a import b\nb()", "p") is None
    assert names_passed_on("from .a import *", "p") is None
    assert names_passed_on("from p import a as a", "p") is None


def test_modules_wait_once_however_often_it_is_asked(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    load_lazily()
    load_lazily()
    assert sum(isinstance(finder, LazyFinder) for finder in sys.meta_path) == 1


def test_the_command_leaves_them_unloaded_and_they_work_afterwards():
    parts = ("equinox.nn._mlp", "equinox.internal._noinline", "jax._src.pallas.core")
    words = in_new_process(
        "import lissom_command; lissom_command.load_less()",
        "import lissom.types, equinox, pickle, inspect",
        f"print(*(name in sys.modules for name in {parts}))",
        "from equinox.nn import *",
        "import jax, jax.extend.pallas, equinox.internal as eqxi",
        "net = MLP(2, 1, 3, 1, key=jax.random.key(0))",
        "again = pickle.loads(pickle.dumps(net.layers[0]))",
        "print(type(again) is equinox.nn.Linear, equinox.nn._mlp.MLP is MLP)",
        "print(inspect.getsource(equinox.nn).startswith('from'))",
        "print(callable(jax.extend.pallas.register_lowering_rule))",
        "print(callable(eqxi.while_loop))",
    )
    assert words == ["False"] * 3 + ["True"] * 5


def test_packages_that_were_there_before_stay_as_they_are():
    words = in_new_process(
        "import equinox, types",
        "before = equinox.nn",
        "import lissom_command; lissom_command.load_less()",
        "print(equinox.nn is before, type(equinox.nn) is types.ModuleType)",
    )
    assert words == ["True", "True"]


SETTINGS = """
def settings():
    caches = {name: value for name, value in jax.config.values.items() if "cache" in name}
    garbage = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()
    hooks = [list(map(id, hooks)) for hooks in (sys.meta_path, sys.path_hooks)]
    handlers = signal.getsignal(signal.SIGINT), logging.root.handlers[:]
    printed = np.geterr(), np.get_printoptions()
    return caches, garbage, hooks, handlers, printed, sys.getrecursionlimit()
"""


@pytest.mark.parametrize("also", ["", "lissom.simulate('simple-pendulum', t_end=0.01)"])
def test_the_package_changes_nothing_for_others_but_double_precision(also):
    words = in_new_process(
        "import gc",
        "frozen = gc.get_freeze_count()",
        "import equinox, jax, logging, scipy, signal",
        "import numpy as np",
        SETTINGS,
        "gc.set_threshold(800, 9, 11)",
        "before, others = settings(), dict(jax.config.values)",
        "import lissom",
        also,
        "print(settings() == before, gc.get_freeze_count() - frozen)",
        "names = set(others) | set(jax.config.values)",
        "now = jax.config.values",
        "print(*(n for n in names if now.get(n) != others.get(n)))",
    )
    assert words == ["True", "0", "jax_enable_x64"]
