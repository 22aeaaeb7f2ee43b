"""Machine code gives what XLA gives, whatever the form of the function, and nobody is left without an answer."""

import ctypes
import logging
import re
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import core

from jaxnative import code_cache, loading, machine_code
from jaxnative.cache_bound import entries_of
from jaxnative.compiled import (
    NativeAhead,
    Runner,
    compiling,
    function_of,
    pattern_of,
    recipe_of,
    using,
)
from jaxnative.export import ExportError, export_c
from jaxnative.llvm_text import LONGEST_BLOCK, function_text
from jaxnative.machine_code import Effort

from .operations import CASES, A, V


def native(function, *arguments, unrolls=True):
    """The function as machine code, with nothing taken for granted about its inputs."""
    traced = jax.make_jaxpr(function)(*arguments)
    inputs = [np.asarray(argument) for argument in arguments]
    pattern = pattern_of(inputs, [False] * len(inputs))
    outputs = [variable.aval for variable in traced.jaxpr.outvars]
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in outputs]
    name = loading.load(function_of(traced, pattern, unrolls))
    return Runner(recipe_of(traced, name, shapes))(inputs)


def assert_same(values, wanted):
    for value, number in zip(values, jax.tree.leaves(wanted), strict=True):
        assert value.shape == number.shape and value.dtype == number.dtype
        np.testing.assert_allclose(value, number, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("unrolls", [True, False], ids=["in scalars", "in loops"])
@pytest.mark.parametrize("case", CASES)
def test_machine_code_agrees_with_xla(case, unrolls):
    function, arguments = CASES[case]
    values = native(function, *arguments, unrolls=unrolls)
    assert_same(values, function(*arguments))


# An operation that JAX has from version 0.11 on.
UNSTACK = getattr(jax.lax, "unstack_p", core.Primitive("unstack"))
if not hasattr(jax.lax, "unstack_p"):
    UNSTACK.multiple_results = True

    @UNSTACK.def_abstract_eval
    def _parts(x, *, axis):
        shape = x.shape[:axis] + x.shape[axis + 1 :]
        return [jax.core.ShapedArray(shape, x.dtype)] * x.shape[axis]


@pytest.mark.parametrize("axis", [0, 1])
def test_an_array_is_taken_apart_along_an_axis(axis):
    B = np.arange(6.0).reshape(2, 3)
    parts = NativeAhead(lambda B: UNSTACK.bind(2.0 * B, axis=axis))(B)
    np.testing.assert_array_equal(np.stack(parts, axis=axis), 2.0 * B)


@pytest.mark.parametrize("number", [0.0, 2.5])
def test_a_long_array_of_one_number_is_written_by_a_loop(number):
    def function(x):
        return jnp.full((40, 100), number).at[3].set(x)

    x = jnp.linspace(0.0, 1.0, 100)
    assert_same(native(function, x), function(x))
    traced = jax.make_jaxpr(function)(x)
    program = function_of(traced, pattern_of([np.asarray(x)], [False]), True)
    assert sum(table.size for table in program.tables) < 100


def test_blocks_of_a_long_function_stay_apart():
    def long(x):
        for _ in range(3):
            x = jnp.sin(x) + x * x[::-1]
        return x

    x = np.linspace(0.1, 0.9, 300)
    assert_same(native(long, x), [long(x)])
    traced = jax.make_jaxpr(long)(x)
    function = function_of(traced, pattern_of([x], [False]), True)
    _, text = function_text(function, {})
    first, *others = re.split(r"\n(?=b\d+:)", text)
    assert len(others) > 2
    # LLVM joins blocks that always follow each other, and its time grows with the square of their length.
    assert all(re.search(r"br i1 .*\n?$", block) for block in [first, *others[:-1]])
    assert max(block.count(" = f") for block in others) <= LONGEST_BLOCK


@pytest.mark.parametrize("case", ["products", "searching loop", "complex systems"])
def test_c_text_agrees_with_xla(case, tmp_path):
    function, arguments = CASES[case]
    text = export_c(function, *arguments, name="exported")
    wanted = [np.asarray(leaf) for leaf in jax.tree.leaves(function(*arguments))]
    (tmp_path / "code.c").write_text(text)
    library = tmp_path / "code.so"
    flags = ["-std=c99", "-O1", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run(["gcc", *flags, str(tmp_path / "code.c"), "-lm"], check=True)
    values = [np.zeros_like(number) for number in wanted]
    arrays = [*map(np.ascontiguousarray, arguments), *values]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    ctypes.CDLL(str(library)).exported(*pointers)
    assert_same(values, wanted)


def test_c_text_has_a_readable_signature():
    text = export_c(lambda q, rate: (q + rate, q * rate), V, V, name="sums")
    head = "void sums(const double *q, const double *rate, double *result_0, double *result_1)"
    assert head in text


def test_a_name_that_is_none_in_c_is_refused():
    with pytest.raises(ExportError, match="two words"):
        export_c(jnp.sin, V, name="two words")


@pytest.mark.parametrize(
    "function",
    [
        lambda q: np.sin(q),
        lambda q: np.array([q[0], 2.0]),
        lambda q: float(q[0]) * q,
        lambda q: q if q[0] > 0 else -q,
    ],
    ids=["np.sin", "np.array", "float", "if"],
)
def test_a_function_that_is_not_of_jax_is_refused_with_its_line(function):
    with pytest.raises(ExportError) as refusal:
        export_c(function, V, name="torque")
    line = function.__code__.co_firstlineno
    message = str(refusal.value)
    assert f"{__file__}:{line}: " in message and "jax.numpy" in message


def test_a_result_that_is_no_array_is_named():
    with pytest.raises(ExportError, match="gives str, which is no array"):
        export_c(lambda q: (q, "done"), V, name="torque")


def test_what_is_no_number_stays_none():
    numbers = np.array([np.nan, np.inf, -np.inf, 1e308, 5e-324, 0.0, -1.0])

    def extremes(x):
        return (
            x * 10.0,
            jnp.maximum(x, 0.0),
            jnp.minimum(0.0, x),
            jnp.maximum(0.5, x[::-1]),
            jnp.sqrt(x),
            jnp.max(x),
            jnp.isfinite(x),
            x + 5e-324,
            1e-200 * x[4:],
        )

    for unrolls in (True, False):
        values = native(extremes, numbers, unrolls=unrolls)
        for value, wanted in zip(values, jax.jit(extremes)(numbers), strict=True):
            np.testing.assert_array_equal(value, wanted)


# --- zeros and ones ------------------------------------------------------------------------------------------------


def spring(model, x):
    """A function of numbers of a model and of a state."""
    return model["stiffness"] @ x + model["gain"] * x**2


def model_of(stiffness, gain):
    return {"stiffness": np.asarray(stiffness), "gain": np.asarray(gain)}


def test_other_numbers_need_no_other_program_and_other_zeros_do(caplog):
    compiled = NativeAhead(spring, fixed=lambda model, x: model, unrolls=True)
    built = []
    build = compiled._build
    compiled._build = lambda *args: built.append(1) or build(*args)
    x = np.array([1.0, 2.0])
    diagonal = np.diag([3.0, 1.0])
    for stiffness, gain, programs in (
        (diagonal, [0.0, 1.0], 1),
        (5.0 * diagonal - np.diag([0.0, 4.0]), [0.0, 1.0], 1),
        (diagonal + 1.5, [0.0, 1.0], 2),
        (diagonal, [0.0, 1.0], 2),
        (diagonal, [2.0, 1.0], 3),
        (diagonal, [2.0, 7.0], 4),
        (diagonal - diagonal, [0.0, 0.0], 4),
    ):
        model = model_of(stiffness, gain)
        np.testing.assert_allclose(compiled(model, x), spring(model, x), rtol=1e-15)
        assert len(built) == programs


# --- quick code and good code --------------------------------------------------------------------------------------


def test_quick_code_is_another_program_than_good_code():
    compiled = NativeAhead(spring, fixed=lambda model, x: model, unrolls=True)
    built = []
    build = compiled._build
    compiled._build = lambda *args: built.append(1) or build(*args)
    model, x = model_of(np.diag([3.0, 1.0]), [0.0, 2.0]), np.array([1.0, 2.0])
    for quickly, programs in ((True, 1), (False, 2), (True, 2), (False, 2)):
        with compiling(quickly=quickly):
            force = compiled(model, x)
        np.testing.assert_allclose(force, spring(model, x), rtol=1e-15)
        assert len(built) == programs


def test_what_is_always_compiled_quickly_is_one_program():
    compiled = NativeAhead(spring, quick=True)
    built = []
    build = compiled._build
    compiled._build = lambda *args: built.append(1) or build(*args)
    model, x = model_of(np.diag([3.0, 1.0]), [0.0, 2.0]), np.array([1.0, 2.0])
    for quickly in (True, False):
        with compiling(quickly=quickly):
            compiled(model, x)
    assert len(built) == 1


def test_a_function_without_a_native_form_is_tried_once_however_it_is_compiled(caplog):
    def spectrum(A):
        return jnp.linalg.eigh(A + A.T)[0]

    caplog.set_level(logging.INFO, "jaxnative")
    compiled = NativeAhead(spectrum)
    for quickly in (True, False):
        with compiling(quickly=quickly):
            compiled(A)
    assert len(caplog.records) == 1


# --- without machine code ------------------------------------------------------------------------------------------


def test_a_function_with_an_unknown_operation_runs_under_xla(caplog):
    def spectrum(A):
        return jnp.linalg.eigh(A + A.T)[0]

    caplog.set_level(logging.INFO, "jaxnative")
    compiled = NativeAhead(spectrum)
    np.testing.assert_allclose(compiled(A), spectrum(A), rtol=1e-12)
    assert "spectrum has no native form: operation `eigh`" in caplog.text
    assert len(caplog.records) == 1


def test_a_failure_of_the_compiler_is_one_line(caplog, monkeypatch):
    def broken(*_):
        raise RuntimeError("no room\nsecond line")

    monkeypatch.setattr(loading, "load", broken)
    compiled = NativeAhead(lambda x: 2.0 * x)
    np.testing.assert_allclose(compiled(V), 2.0 * V)
    (record,) = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert "no room)" in record.getMessage() and "\n" not in record.getMessage()
    # Other functions meet the same reason: it is told once.
    np.testing.assert_allclose(NativeAhead(lambda x: 3.0 * x)(V), 3.0 * V)
    told = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert told == [record]


def test_xla_can_be_asked_for(monkeypatch):
    monkeypatch.setattr(loading, "load", lambda *_: pytest.fail("was translated"))
    compiled = NativeAhead(lambda x: 2.0 * x)
    with using("xla"):
        assert isinstance(compiled(V), jax.Array)


# --- machine code on disk ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)
    return tmp_path


TEXT = "define void @kept(ptr %a) {\n  ret void\n}\n"


def test_machine_code_is_found_again(folder, monkeypatch):
    made = machine_code.object_code(TEXT, Effort())
    monkeypatch.setattr(machine_code, "_made", lambda *_: pytest.fail("made again"))
    assert machine_code.object_code(TEXT, Effort()) == made


@pytest.mark.parametrize("damage", [b"", b"jaxnat", b"other\n" * 40, None])
def test_damaged_machine_code_is_made_anew(folder, damage):
    made = machine_code.object_code(TEXT, Effort())
    (entry,) = (Path(kept.path) for kept in entries_of(folder))
    whole = entry.read_bytes()
    # None: one byte of the code itself is another one.
    entry.write_bytes(whole[:-1] + b"\x00\x01"[:1] if damage is None else damage)
    if damage is None:
        entry.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    assert machine_code.object_code(TEXT, Effort()) == made
    assert entry.read_bytes() == whole


def test_another_processor_has_other_machine_code(folder, monkeypatch):
    machine_code.object_code(TEXT, Effort())
    monkeypatch.setattr(code_cache, "place", lambda: "another one")
    machine_code.object_code(TEXT, Effort())
    assert len(entries_of(folder)) == 2


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path, monkeypatch, caplog):
    file = tmp_path / "file"
    file.write_text("in the way")
    monkeypatch.setattr(code_cache, "folder", lambda: file / "native")
    monkeypatch.setattr(code_cache, "_warned", [])
    for text in (TEXT, TEXT.replace("kept", "also_kept")):
        assert machine_code.object_code(text, Effort())
    assert len(caplog.records) == 1


def test_python_is_called_from_a_loop_of_machine_code():
    def plain(k, x):
        # What an `if` decides, no trace can know.
        return 2.0 * x if k % 2 else x + 1.0

    def program(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)

        def body(k, x):
            return jax.pure_callback(plain, shape, k, x)

        return jax.lax.fori_loop(0, 5, body, x)

    ahead = NativeAhead(program)
    with using("native"):
        found = [ahead(jnp.asarray(x)) for x in (A, A + 1.0)]
    assert not ahead._untranslatable
    for value, x in zip(found, (A, A + 1.0), strict=True):
        np.testing.assert_allclose(value, 4.0 * x + 7.0, rtol=1e-15)


def test_what_goes_wrong_in_python_is_raised_when_machine_code_has_ended():
    calls = []

    def broken(x):
        calls.append(x)
        raise ArithmeticError("no torque today")

    def program(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)

        def body(k, x):
            return jax.pure_callback(broken, shape, x)

        return jax.lax.fori_loop(0, 5, body, x)

    ahead = NativeAhead(program)
    for _ in range(2):
        with pytest.raises(ArithmeticError, match="no torque today"):
            ahead(jnp.asarray(V))
    # Once in each call: after a failure the program only finds its end.
    assert len(calls) == 2
