"""Machine code of a function on a few rows: all of them at once, one in each lane of a vector."""

import hashlib
from weakref import WeakKeyDictionary

from . import lane_code
from .few_rows import FEW as WIDTH
from .llvm_lines import LINE
from .machine_code import Effort, load_text
from .program import Buffer, Function, Rows
from .untranslatable import Untranslatable

LARGEST = 16384  # bytes: larger rows are not put on the stack
# Names of functions that are in this process, by which arguments their rows share.
_in_lanes: WeakKeyDictionary[Function, dict[tuple[bool, ...], str]] = (
    WeakKeyDictionary()
)


def load(rows: Rows) -> str:
    """Puts the function of all rows into this process, in lanes; its name there.

    Raises:
        Untranslatable: rows that do not fit into lanes.
        RuntimeError: LLVM cannot do it.
    """
    _check(rows)
    names = _in_lanes.setdefault(rows.function, {})
    if rows.shared not in names:
        names[rows.shared] = lane_code.load(rows.function, rows.shared, WIDTH)
    inner = names[rows.shared]
    name, text = _text(rows, inner)
    load_text(name, text, Effort(level=1), [inner])
    return name


def _check(rows: Rows) -> None:
    if rows.count > WIDTH or lane_code.lane_count() < WIDTH:
        raise Untranslatable(f"{rows.count} rows")
    for place, is_shared in zip(rows.function.arguments, rows.shared, strict=True):
        if is_shared:
            continue
        if place.dtype != "float64" or _bytes(place) > LARGEST:
            raise Untranslatable(f"rows of {place.size} {place.dtype}")


def _bytes(place: Buffer) -> int:
    """Of an argument in lanes."""
    return max(place.size, 1) * 8 * WIDTH


def _text(rows: Rows, inner: str) -> tuple[str, str]:
    """Name and text of the function around that of the lanes."""
    arguments = rows.function.arguments
    first_result = len(arguments) - rows.function.n_results
    memory, into, out_of, pointers = [], [], [], []
    for k, (place, is_shared) in enumerate(zip(arguments, rows.shared, strict=True)):
        if is_shared:
            pointers.append(f"ptr %a{k}")
            continue
        pointers.append(f"ptr %l{k}")
        memory.append(f"  %l{k} = alloca [{_bytes(place)} x i8], align {LINE}")
        if k < first_result:
            into += _loop(f"i{k}", place.size, _side_by_side(k, place.size, rows.count))
        else:
            out_of += _loop(f"o{k}", place.size, _apart(k, place.size, rows.count))
    call = f"  call void @{inner}({', '.join(pointers)})"
    body = "\n".join([*memory, *into, call, *out_of, "  ret void"])
    parameters = ", ".join(f"ptr noalias %a{k}" for k in range(len(arguments)))
    types = ", ".join(["ptr"] * len(arguments))
    head = f"declare void @{inner}({types})"
    name = "rows" + hashlib.sha256((head + body).encode()).hexdigest()[:24]
    return name, f"{head}\ndefine void @{name}({parameters}) nounwind {{\n{body}\n}}\n"


def _loop(label: str, size: int, body: list[str]) -> list[str]:
    """The body for every number of a row, which it calls %k."""
    if size == 0:
        return []
    return [
        f"  br label %{label}enter",
        f"{label}enter:",
        f"  br label %{label}head",
        f"{label}head:",
        f"  %{label} = phi i64 [0, %{label}enter], [%{label}next, %{label}head]",
        *[f"  {line.replace('%k', f'%{label}')}" for line in body],
        f"  %{label}next = add i64 %{label}, 1",
        f"  %{label}more = icmp slt i64 %{label}next, {size}",
        f"  br i1 %{label}more, label %{label}head, label %{label}leave",
        f"{label}leave:",
    ]


def _side_by_side(a: int, size: int, count: int) -> list[str]:
    """One number of each row becomes a vector; lanes beyond the last row hold that row once more."""
    lines = []
    before = "poison"
    for lane in range(WIDTH):
        row = min(lane, count - 1)
        name = f"%k.{lane}"
        lines += _element(name, a, row * size)
        lines.append(f"{name}.x = load double, ptr {name}.p")
        lines.append(
            f"{name}.v = insertelement <{WIDTH} x double> {before}, double {name}.x, i64 {lane}"
        )
        before = f"{name}.v"
    lines.append(f"%k.l = getelementptr <{WIDTH} x double>, ptr %l{a}, i64 %k")
    lines.append(f"store <{WIDTH} x double> {before}, ptr %k.l")
    return lines


def _apart(a: int, size: int, count: int) -> list[str]:
    """One number of each row out of a vector."""
    lines = [
        f"%k.l = getelementptr <{WIDTH} x double>, ptr %l{a}, i64 %k",
        f"%k.v = load <{WIDTH} x double>, ptr %k.l",
    ]
    for row in range(count):
        name = f"%k.{row}"
        lines += _element(name, a, row * size)
        lines.append(f"{name}.x = extractelement <{WIDTH} x double> %k.v, i64 {row}")
        lines.append(f"store double {name}.x, ptr {name}.p")
    return lines


def _element(name: str, a: int, first: int) -> list[str]:
    """Where the number %k of a row stands that begins at `first`."""
    return [
        f"{name}.i = add i64 %k, {first}",
        f"{name}.p = getelementptr double, ptr %a{a}, i64 {name}.i",
    ]
