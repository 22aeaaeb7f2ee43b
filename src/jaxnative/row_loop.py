"""The text of a loop over rows: as many rows as there are lanes are handed to a function, and its results back."""

import hashlib
from typing import NamedTuple

from .llvm_lines import LINE


class RowLoop(NamedTuple):
    """What the loop over rows hands to the function of one vector of rows."""

    model: int  # how many arrays of numbers the model has
    columns: tuple[int, ...]  # numbers in a row of each
    results: tuple[int, ...]
    width: int

    def text(self, inner: str) -> tuple[str, str]:
        """Name and text of the loop around a function."""
        n = self.model + 1 + len(self.columns) + len(self.results)
        parameters = ", ".join(f"ptr noalias %a{k}" for k in range(n))
        types = ", ".join(["ptr"] * (n - 1))
        model = [f"%a{k}" for k in range(self.model)]
        sizes = (*self.columns, *self.results)
        places = [f"%lanes{k}" for k in range(len(sizes))]
        own = [f"%a{self.model + 1 + k}" for k in range(len(sizes))]
        pointers = ", ".join(f"ptr {name}" for name in (*model, *places))
        moves = list(zip(places, own, sizes, strict=True))
        into, out_of = moves[: len(self.columns)], moves[len(self.columns) :]
        body = "\n".join(
            [
                *self._memory(places, sizes),
                HEAD.format(count=f"%a{self.model}"),
                *[_move("side_by_side", move) for move in into],
                f"  call void @{inner}({pointers})",
                *[_move("apart", move) for move in out_of],
                TAIL.format(width=self.width),
            ]
        )
        declared = f"declare void @{inner}({types})\n"
        moving = MOVES.replace("WIDTH", str(self.width))
        text = f"{moving}{declared}define void @NAME({parameters}) nounwind {{\n{body}"
        name = "rows" + hashlib.sha256(text.encode()).hexdigest()[:24]
        return name, text.replace("@NAME", f"@{name}")

    def _memory(self, places: list[str], sizes: tuple[int, ...]) -> list[str]:
        """Room for one vector of rows; models with thousands of nodes have no room on the stack."""
        steps = [-(-max(size, 1) * 8 * self.width // LINE) * LINE for size in sizes]
        lines = [
            f"  %room = call ptr @malloc(i64 {sum(steps) + LINE})",
            f"  %end = getelementptr i8, ptr %room, i64 {LINE}",
            f"  %start = call ptr @llvm.ptrmask.p0.i64(ptr %end, i64 -{LINE})",
        ]
        for k, place in enumerate(places):
            lines.append(
                f"  {place} = getelementptr i8, ptr %start, i64 {sum(steps[:k])}"
            )
        return lines


def _move(how: str, move: tuple[str, str, int]) -> str:
    place, own, size = move
    rest = f"i64 {size}, i64 %first, i64 %count"
    return f"  call void @{how}(ptr {place}, ptr {own}, {rest})"


HEAD = """  %count = load i64, ptr {count}
  br label %head
head:
  %first = phi i64 [0, %0], [%next, %body]
  %more = icmp slt i64 %first, %count
  br i1 %more, label %body, label %done
body:"""
TAIL = """  %next = add i64 %first, {width}
  br label %head
done:
  call void @free(ptr %room)
  ret void
}}
"""


def _moving(name: str, load: str, store: str, last: str) -> str:
    """A function that moves the numbers of as many rows as there are lanes: row after row outside, lanes inside."""
    return f"""
define internal void @{name}(ptr %lanes, ptr %rows, i64 %size, i64 %first, i64 %count) nounwind noinline {{
  %end = sub i64 %count, 1
  br label %lane_head
lane_head:
  %lane = phi i64 [0, %0], [%lane_next, %lane_tail]
  %wanted = add i64 %first, %lane
  %is_there = icmp slt i64 %wanted, %count
  {last}
  %begin = mul i64 %row, %size
  br label %head
head:
  %k = phi i64 [0, %lane_go], [%k_next, %body]
  %more = icmp slt i64 %k, %size
  br i1 %more, label %body, label %lane_tail
body:
  %in_row = add i64 %begin, %k
  %before = mul i64 %k, WIDTH
  %in_lanes = add i64 %before, %lane
  %row_place = getelementptr double, ptr %rows, i64 %in_row
  %lane_place = getelementptr double, ptr %lanes, i64 %in_lanes
  %value = load double, ptr {load}
  store double %value, ptr {store}
  %k_next = add i64 %k, 1
  br label %head
lane_tail:
  %lane_next = add i64 %lane, 1
  %again = icmp slt i64 %lane_next, WIDTH
  br i1 %again, label %lane_head, label %done
done:
  ret void
}}
"""


# Lanes beyond the last row compute that row once more, and their results go nowhere.
REPEATED = """%row = select i1 %is_there, i64 %wanted, i64 %end
  br label %lane_go
lane_go:"""
LEFT_OUT = """%row = add i64 %wanted, 0
  br i1 %is_there, label %lane_go, label %done
lane_go:"""
MOVES = (
    "declare ptr @malloc(i64)\ndeclare void @free(ptr)\n"
    "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)\n"
    + _moving("side_by_side", "%row_place", "%lane_place", REPEATED)
    + _moving("apart", "%lane_place", "%row_place", LEFT_OUT)
)
