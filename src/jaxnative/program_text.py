"""What the printers of LLVM's text and of C share: operations, and where the arrays of a function stand."""

from typing import Any

from .program import Buffer, Call, Copy, For, Function, If, StoreNumber, While

# Of each operation on two numbers: LLVM's instruction on one type, and C's operator.
SIMPLE = {
    "fadd": ("fadd double", "+"),
    "fsub": ("fsub double", "-"),
    "fmul": ("fmul double", "*"),
    "fdiv": ("fdiv double", "/"),
    "iadd": ("add i64", "+"),
    "isub": ("sub i64", "-"),
    "imul": ("mul i64", "*"),
    "idiv": ("sdiv i64", "/"),
    "irem": ("srem i64", "%"),
    "iand": ("and i64", "&"),
    "ior": ("or i64", "|"),
    "ixor": ("xor i64", "^"),
    "ishl": ("shl i64", "<<"),
    "isar": ("ashr i64", ">>"),
    "band": ("and i1", "&"),
    "bor": ("or i1", "|"),
    "bxor": ("xor i1", "^"),
    "feq": ("fcmp oeq double", "=="),
    "fne": ("fcmp une double", "!="),
    "flt": ("fcmp olt double", "<"),
    "fle": ("fcmp ole double", "<="),
    "ieq": ("icmp eq i64", "=="),
    "ine": ("icmp ne i64", "!="),
    "ilt": ("icmp slt i64", "<"),
    "ile": ("icmp sle i64", "<="),
}
OPERAND_KINDS = {"f": "d", "i": "i", "b": "b"}  # by the first letter of an operation
LARGE = 4096  # bytes: larger arrays are not put on the stack
# Bytes of small arrays that one function puts there; a thread may have 512 kB in all.
STACK = 2**18


class BlockWriter:
    """Writes blocks of statements, each in the way of its kind."""

    def block(self, block: list[Any]) -> None:
        """Writes a block."""
        for statement in block:
            self.statement(statement)

    def statement(self, s: Any) -> None:
        """Writes a statement; a number is a node."""
        getattr(self, _WAYS[type(s)])(s)


_WAYS = {
    int: "node",
    StoreNumber: "store",
    Copy: "copy",
    Call: "call",
    For: "count",
    While: "search",
    If: "choose",
}


def changing_arguments(function: Function) -> set[int]:
    """Places of the arguments that a function writes to: its results, and what it overwrites."""
    own = function.arguments
    first_result = len(own) - function.n_results
    changing = [*(buffer for buffer in own if buffer.mutable), *own[first_result:]]
    return {buffer.place for buffer in changing}


def heap_buffers(frame: list[Buffer], lanes: int = 1, largest: int = LARGE) -> set[int]:
    """Places of the arrays of a function that are not put on the stack: large ones, and what is too much in all."""
    found, total = set(), 0
    for buffer in frame:
        size = buffer.bytes * lanes
        if size > largest or total + size > STACK:
            found.add(buffer.place)
        else:
            total += size
    return found
