"""Operations of a function that are alike: the same arithmetic on the same numbers, with other constants.

So are the rows of a product of a matrix and a vector that have their zeros at the same places. Each of these rows is a
*tree* of operations that nothing else looks into; its *root* is what others read. Alike roots share a *vector*, one in
each lane, and so do the operations of their trees.

The constants of a tree may stand anywhere and have any sign: they are gathered beforehand. All else that it reads is
either the same number in all lanes, or the root of another tree, in the same lane or in another one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from .places import blocks_of
from .program import Call, Copy, For, Function, If, Store, While

OPERATIONS = ("fadd", "fsub", "fmul")
WIDTH = 4  # lanes
LEAST = 4  # operations that a vector has to save: numbers have to be put into its lanes, and taken out
# Of looking for trees: what was found to have no company is left out of the next.
ROUNDS = 3

Name = tuple[int, int, int]  # what alike operands have in common


class Operand(NamedTuple):
    """What an operation reads, with its sign."""

    node: int
    sign: int


class Lane(NamedTuple):
    """Where a root stands."""

    vector: int  # its number
    lane: int


class Operations:
    """The additions and multiplications in the outermost block of a function.

    Args:
        function: that is written out.
        fixed: arguments whose numbers are constants.
    """

    def __init__(self, function: Function, fixed: frozenset[int]):
        self.function = function
        self.uses = uses_of(function)
        self.operands: dict[int, tuple[Operand, Operand]] = {}
        # Numbers that stand in the program are constants too.
        self.constants = {n for n, op in enumerate(function.op) if op == "const"}
        self.height: dict[int, int] = {}  # above what is known beforehand
        for node in function.block:
            if isinstance(node, int):
                self._add(node, fixed)

    def is_product(self, node: int) -> bool:
        """True for a product, False for a sum or difference."""
        return self.function.op[node] == "fmul"

    def _add(self, node: int, fixed: frozenset[int]) -> None:
        f = self.function
        op, args = f.op[node], f.args[node]
        below = [self.height.get(abs(a), 0) for a in args if isinstance(a, int)]
        self.height[node] = 1 + max(below, default=0)
        if op == "load" and _is_fixed(f, args, fixed):
            self.constants.add(node)
        elif op in OPERATIONS:
            a, b = args
            b = -b if op == "fsub" else b
            self.operands[node] = (_operand(a), _operand(b))


def _operand(a: int) -> Operand:
    return Operand(a, 1) if a >= 0 else Operand(-a, -1)


def _is_fixed(function: Function, args: tuple, fixed: frozenset[int]) -> bool:
    buffer, index = args[:2]
    is_fixed = buffer.where == "argument" and buffer.place in fixed
    return is_fixed and function.op[index] == "const"


class Trees:
    """Operations as trees, those with alike ones elsewhere.

    Args:
        operations: of a function.
        single: operations that are known to have no company.
    """

    def __init__(self, operations: Operations, single: set[int]):
        self.operations = operations
        # Operands in an order that alike operations share.
        self.operands: dict[int, tuple[Operand, Operand]] = {}
        self._form: dict[int, int] = {}  # alike operations have the same
        self._loose: set[int] = set(operations.constants)
        self._numbers: dict[Any, int] = {}
        for node in operations.operands:
            if node not in single:
                self._add(node)
        counts = Counter(self._form.values())
        self.alike = {n for n, form in self._form.items() if counts[form] > 1}
        # Operations that one alike operation reads, and nothing else does.
        self.inner = {
            a.node
            for node in self.alike
            for a in self.operands[node]
            if a.node in self.alike and operations.uses[a.node] == 1
        }

    def is_loose(self, node: int) -> bool:
        """True for what can have another sign for nothing: a constant, or a tree with constants that take it over."""
        return node in self._loose

    def _add(self, node: int) -> None:
        a, b = self.operations.operands[node]
        first, second = self._name_of(a), self._name_of(b)
        if second < first:
            a, b, first, second = b, a, second, first
        self.operands[node] = (a, b)
        is_product = self.operations.is_product(node)
        self._form[node] = self._number((is_product, first, second))
        loose = (a.node in self._loose, b.node in self._loose)
        if self.operations.uses[node] == 1 and (any if is_product else all)(loose):
            self._loose.add(node)

    def _name_of(self, operand: Operand) -> Name:
        """Of constants nothing but that they are; of operations their form; of all others their own name."""
        node, sign = operand
        if node in self.operations.constants:
            return 0, 0, 0
        sign = 0 if node in self._loose else sign
        form = self._form.get(node)
        return (2, node, sign) if form is None else (1, form, sign)

    def _number(self, facts: Any) -> int:
        return self._numbers.setdefault(facts, len(self._numbers))

    def nodes(self, root: int) -> list[int]:
        """Operations of a tree."""
        found = [root]
        for node in found:
            found += [a.node for a in self.operands[node] if a.node in self.inner]
        return found

    def roots_in(self, root: int) -> list[int]:
        """Roots of other trees that a tree reads, in an order that alike trees share."""
        return [
            a.node
            for node in self.nodes(root)
            for a in self.operands[node]
            if a.node in self.alike and a.node not in self.inner
        ]

    def groups(self) -> list[list[int]]:
        """Roots whose trees are alike down to the leaves; those that are read before those that read them."""
        shapes: dict[int, int] = {}
        groups: dict[int, list[int]] = defaultdict(list)
        for node in self.operands:
            if node not in self.alike:
                continue
            below = [
                shapes[a.node] if a.node in self.inner else -1
                for a in self.operands[node]
            ]
            shapes[node] = self._number((self._form[node], *below, "tree"))
            if node not in self.inner:
                groups[shapes[node]].append(node)
        height = self.operations.height
        return sorted(groups.values(), key=lambda group: height[group[0]])


class Vectors:
    """Roots that are computed together."""

    def __init__(self, trees: Trees):
        self.trees = trees
        # A root in each lane; 0 where there is none.
        self.roots: list[tuple[int, ...]] = []
        self.lane_of: dict[int, Lane] = {}
        self.single: set[int] = set()  # roots that found no company
        for group in trees.groups():
            for roots in self._placed(group):
                self._keep(roots)
            self.single.update(root for root in group if root not in self.lane_of)

    def _keep(self, roots: tuple[int, ...]) -> None:
        if not self._is_worth([root for root in roots if root]):
            return
        for lane, root in enumerate(roots):
            if root:
                self.lane_of[root] = Lane(len(self.roots), lane)
        self.roots.append(roots)

    def _placed(self, group: list[int]) -> Iterable[tuple[int, ...]]:
        """Vectors for alike roots: where they read other roots, in the lanes of those."""
        if not self.trees.roots_in(group[0]):
            for first in range(0, len(group), WIDTH):
                part = group[first : first + WIDTH]
                yield (*part, *[0] * (WIDTH - len(part)))
            return
        made: dict[int, list[list[int]]] = defaultdict(list)
        for root in group:
            places = [self.lane_of.get(other) for other in self.trees.roots_in(root)]
            first = places[0]
            if first is None or None in places:
                continue
            free = [roots for roots in made[first.vector] if not roots[first.lane]]
            if not free:
                free = [[0] * WIDTH]
                made[first.vector] += free
            free[0][first.lane] = root
        for vectors in made.values():
            yield from map(tuple, vectors)

    def _is_worth(self, roots: list[int]) -> bool:
        """True if it takes fewer operations to compute roots together."""
        if len(roots) < 2:
            return False
        columns = list(zip(*map(self.trees.roots_in, roots), strict=True))
        # Numbers out of more than two vectors are not worth to be collected.
        for column in columns:
            if len({self.lane_of[root].vector for root in column}) > 2:
                return False
        return (len(roots) - 1) * len(self.trees.nodes(roots[0])) >= LEAST


def vectors_of(function: Function, fixed: frozenset[int]) -> Vectors:
    """Roots of a function that are computed together.

    Args:
        function: that is written out.
        fixed: arguments whose numbers are constants.
    """
    operations = Operations(function, fixed)
    single: set[int] = set()
    for _ in range(ROUNDS):
        found = Vectors(Trees(operations, single))
        single |= found.single
        if not found.single:
            break
    return found


# --- who reads what ------------------------------------------------------------------------------------------------


def uses_of(function: Function) -> Counter[int]:
    """How often each node is read."""
    found: Counter[int] = Counter()
    _count(function, function.block, found)
    return found


def _count(function: Function, block: list[Any], found: Counter[int]) -> None:
    for statement in block:
        found.update(map(abs, _read_by(function, statement)))
        for inner in blocks_of(statement):
            _count(function, inner, found)


def _read_by(function: Function, statement: Any) -> list[int]:
    """Nodes that a statement itself reads."""
    if isinstance(statement, int):
        return [a for a in function.args[statement] if isinstance(a, int)]
    if isinstance(statement, Store):
        return [statement.index, statement.value]
    if isinstance(statement, Copy):
        return [statement.target_index, statement.source_index]
    if isinstance(statement, Call):
        return [index for _, index in statement.pointers]
    if isinstance(statement, For):
        rounds = [node for _, *ends in statement.carried for node in ends]
        return [statement.start, statement.stop, *rounds]
    if isinstance(statement, While | If):
        return [statement.condition]
    return []
