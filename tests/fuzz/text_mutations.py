"""Files broken as text: bytes cut, doubled, swapped, flipped, put in; lines and numbers changed."""

import re
from collections.abc import Callable
from random import Random

NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
# What parsers stumble over: control characters, tags, anchors, halves of characters, deep nesting.
PIECES = (
    b"\x00",
    b"\xff\xfe",
    b"\x1b[31m",
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b"\t",
    b"\r",
    b"&a ",
    b"*a ",
    b"<<: *a\n",
    b"!!python/object/apply:os.system [true]",
    b"!!binary x",
    b"%YAML 9.9\n",
    b"---\n",
    b"...\n",
    b"? ",
    b"- ",
    b": ",
    b"#",
    b"'",
    b'"',
    b"|\n",
    b"{" * 300,
    b"[" * 3000,
    b"<![CDATA[",
    b"<!-- ",
    b"</link>",
    b'<!DOCTYPE a [<!ENTITY b "c">]>',
    b"&lol;",
    b"$End\n",
    b"*INCLUDE, INPUT=/etc/passwd\n",
    "é💥".encode(),
)
NUMBERS = (
    b"0",
    b"-1",
    b"nan",
    b".nan",
    b".inf",
    b"-.inf",
    b"inf",
    b"1e308",
    b"-1e308",
    b"1e-308",
    b"1e999",
    b"5e-324",
    b"99999999999999999999",
    b"0x10",
    b"1_000",
    b"1:30",
    b"true",
    b"~",
    b"1 mm",
    b"1 parsec",
    b"",
)

Mutation = Callable[[bytes, Random], bytes]


def mutated_text(data: bytes, random: Random) -> bytes:
    """The bytes after one or several mutations."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        data = random.choice(MUTATIONS)(data, random)
    return data


def _span(data: bytes, random: Random, longest: int = 200) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.randrange(1, longest))


def truncate(data: bytes, random: Random) -> bytes:
    """The beginning alone."""
    return data[: random.randrange(len(data) + 1)]


def cut(data: bytes, random: Random) -> bytes:
    """A piece is missing."""
    start, end = _span(data, random)
    return data[:start] + data[end:]


def double(data: bytes, random: Random) -> bytes:
    """A piece stands there twice, or many times."""
    start, end = _span(data, random)
    times = random.choice((2, 2, 2, 100))
    return data[:start] + times * data[start:end] + data[end:]


def swap(data: bytes, random: Random) -> bytes:
    """Two neighbouring pieces change places."""
    start, middle = _span(data, random)
    end = min(len(data), middle + random.randrange(1, 200))
    return data[:start] + data[middle:end] + data[start:middle] + data[end:]


def flip(data: bytes, random: Random) -> bytes:
    """Some bytes are others."""
    broken = bytearray(data)
    for _ in range(random.choice((1, 4, 32))):
        if broken:
            broken[random.randrange(len(broken))] = random.randrange(256)
    return bytes(broken)


def put_in(data: bytes, random: Random) -> bytes:
    """Something stands there that parsers stumble over."""
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(PIECES) + data[at:]


def change_number(data: bytes, random: Random) -> bytes:
    """A number is another one, or none."""
    found = list(NUMBER.finditer(data))
    if not found:
        return put_in(data, random)
    match = random.choice(found)
    return data[: match.start()] + random.choice(NUMBERS) + data[match.end() :]


def change_lines(data: bytes, random: Random) -> bytes:
    """A line is missing, stands twice, stands elsewhere, or begins elsewhere."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return put_in(data, random)
    at = random.randrange(len(lines))
    line = lines.pop(at)
    kept = random.choice(([], [line, line], [b"  " + line], [line.lstrip()]))
    to = random.choice((at, random.randrange(len(lines) + 1)))
    return b"".join([*lines[:to], *kept, *lines[to:]])


MUTATIONS: tuple[Mutation, ...] = (
    truncate,
    cut,
    double,
    swap,
    flip,
    put_in,
    change_number,
    change_number,
    change_lines,
    change_lines,
)
