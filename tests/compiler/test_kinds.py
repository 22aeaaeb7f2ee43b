"""Operations on numbers of every pair of kinds give what XLA gives, or are refused: never a wrong number."""

import subprocess
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxnative.compiled import NativeAhead, using
from jaxnative.export import ExportError, export_c
from jaxnative.kernels import product_kernel
from jaxnative.translate import Module, Translator
from jaxnative.untranslatable import Untranslatable

from .kinds import numbers
from .test_native import assert_same, native

# Of a product that is written out, and of one that is a loop over memory.
SIZES = {"written out": (2, 3, 2), "in a loop": (5, 4, 6)}
MIXED = [
    ("complex128", "float64"),
    ("float64", "complex128"),
    ("complex128", "int32"),
    ("float64", "int32"),
    ("int32", "int64"),
    ("int32", "int32"),
    ("bool", "float64"),
]
in_both_forms = pytest.mark.parametrize(
    "unrolls", [True, False], ids=["in scalars", "in loops"]
)


def product(a, b):
    """A product of matrices, of types that differ as they may."""
    return jax.lax.dot_general(a, b, (((1,), (0,)), ((), ())))


def factors(types, size):
    m, k, n = size
    return numbers(types[0], (m, k), 0), numbers(types[1], (k, n), 1)


@in_both_forms
@pytest.mark.parametrize("size", SIZES.values(), ids=list(SIZES))
@pytest.mark.parametrize("types", MIXED, ids=" times ".join)
def test_a_product_of_numbers_of_two_types_is_that_of_xla(types, size, unrolls):
    a, b = factors(types, size)
    assert_same(native(product, a, b, unrolls=unrolls), [product(a, b)])


def test_a_product_of_less_than_its_factors_is_left_to_xla(caplog):
    def real_part(a, b):
        dims = (((1,), (0,)), ((), ()))
        return jax.lax.dot_general(a, b, dims, preferred_element_type="float64")

    a, b = factors(("complex128", "float64"), (5, 4, 6))
    with using("native"):
        found = NativeAhead(real_part)(a, b)
    np.testing.assert_allclose(found, real_part(a, b), rtol=1e-14)
    assert "complex128 and float64 as float64" in caplog.text
    with pytest.raises(ExportError, match="complex128 and float64 as float64"):
        export_c(real_part, a, b, name="real_part")


def test_a_call_with_memory_of_another_type_is_refused():
    translator = Translator(Module("calls"), "calls", unrolls=False)
    kernel = product_kernel(1, 2, 2, 2, "c")
    types = ("complex128", "complex128", "float64")
    places = [(translator.builder.argument(name, 4), 0) for name in types]
    with pytest.raises(Untranslatable, match="float64 in place of complex128"):
        translator.emit_call(kernel, places)


# --- C text under the eyes of a sanitizer --------------------------------------------------------------------------

CTYPES = {"float64": "double", "complex128": "double", "int32": "int32_t"}
CTYPES |= {"int64": "int64_t", "bool": "uint8_t"}
SANITIZED = ["-std=c99", "-g", "-fsanitize=address,undefined"]
SANITIZED += ["-fno-sanitize-recover=all"]


def has_sanitizer(folder: Path) -> bool:
    """True if a program for the sanitizer can be compiled and run here."""
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    binary = str(folder / "empty")
    compiled = ["gcc", *SANITIZED, "-o", binary, str(folder / "empty.c")]
    try:
        return all(
            subprocess.run(command, capture_output=True).returncode == 0
            for command in (compiled, [binary])
        )
    except OSError:
        return False


def main_text(text: str, arguments, results) -> str:
    """A program that reads arguments from a file, each into memory of just its size, and writes results to another."""
    lines, names = ["int main(void) {"], []
    for k, array in enumerate([*arguments, *results]):
        is_input = k < len(arguments)
        stored = CTYPES[array.dtype.name]
        lines.append(f"{stored} *x{k} = malloc({array.nbytes});")
        if is_input:
            lines.append(f"if (!fread(x{k}, {array.nbytes}, 1, stdin)) return 2;")
        names.append(f"x{k}")
    lines.append(f"exported({', '.join(names)});")
    for k, array in enumerate(results, len(arguments)):
        lines.append(f"fwrite(x{k}, {array.nbytes}, 1, stdout);")
    lines += [f"free({name});" for name in names]
    return "\n".join(["#include <stdio.h>", text, *lines, "return 0;", "}", ""])


def run_sanitized(function, arguments, folder: Path) -> list[np.ndarray]:
    """Results of the C text of a function; whatever it reads or writes outside of its arrays ends the test."""
    text = export_c(function, *arguments, name="exported")
    wanted = [np.asarray(x) for x in jax.tree.leaves(function(*arguments))]
    (folder / "code.c").write_text(main_text(text, arguments, wanted))
    binary = str(folder / "code")
    command = ["gcc", *SANITIZED, "-o", binary, str(folder / "code.c"), "-lm"]
    subprocess.run(command, check=True)
    given = b"".join(np.ascontiguousarray(x).tobytes() for x in arguments)
    ran = subprocess.run([binary], input=given, capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()
    found, place = [], 0
    for array in wanted:
        part = ran.stdout[place : place + array.nbytes]
        found.append(np.frombuffer(part, array.dtype).reshape(array.shape))
        place += array.nbytes
    assert_same(found, wanted)
    return found


def products_of_all(*pairs):
    """All products of pairs of factors."""
    return [product(a, b) for a, b in zip(pairs[::2], pairs[1::2], strict=True)]


def test_c_text_of_products_of_two_types_stays_inside_its_arrays(tmp_path):
    if not has_sanitizer(tmp_path):
        pytest.skip("no compiler with an address sanitizer")
    types = [*MIXED[:2], ("int32", "int32"), ("int32", "int64")]
    # Beyond what is written out even in functions that unroll.
    pairs = [array for pair in types for array in factors(pair, (12, 12, 14))]
    run_sanitized(products_of_all, pairs, tmp_path)
