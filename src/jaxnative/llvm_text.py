"""The text of a program for LLVM."""

import hashlib
import struct
from typing import Any

import numpy as np

from . import lane_math
from .program import Buffer, Call, Copy, For, Function, If, StoreNumber, While

STORED = {
    "float64": "double",
    "complex128": "double",
    "int64": "i64",
    "int32": "i32",
    "uint32": "i32",
    "bool": "i8",
    "uint8": "i8",
    "int8": "i8",
}
TYPES = {"d": "double", "i": "i64", "b": "i1"}
SIMPLE = {
    "fadd": "fadd contract double",
    "fsub": "fsub contract double",
    "fmul": "fmul contract double",
    "fdiv": "fdiv double",
    "iadd": "add i64",
    "isub": "sub i64",
    "imul": "mul i64",
    "idiv": "sdiv i64",
    "irem": "srem i64",
    "iand": "and i64",
    "ior": "or i64",
    "ixor": "xor i64",
    "ishl": "shl i64",
    "isar": "ashr i64",
    "band": "and i1",
    "bor": "or i1",
    "bxor": "xor i1",
    "feq": "fcmp oeq double",
    "fne": "fcmp une double",
    "flt": "fcmp olt double",
    "fle": "fcmp ole double",
    "ieq": "icmp eq i64",
    "ine": "icmp ne i64",
    "ilt": "icmp slt i64",
    "ile": "icmp sle i64",
}
# How a number becomes one of another kind: instruction, kind before, kind after.
CONVERSIONS = {"i2d": ("sitofp", "i", "d"), "d2i": ("fptosi", "d", "i")}
INTRINSICS = {"sqrt", "fabs", "floor", "ceil", "rint"}
NEVER = "never"  # a block that is not reached
LONGEST_BLOCK = 600  # nodes: longer ones take LLVM disproportionately long
LARGE = 4096  # bytes: larger arrays are not put on the stack
# Bytes of small arrays that one function puts there; a thread may have 512 kB in all.
STACK = 2**18


class FunctionText:
    """Writes one function."""

    def __init__(self, function: Function, names: dict[Function, str]):
        self.f = function
        self.width = 1  # lanes
        self.names = names
        self.lines: list[str] = []
        self.counter = 0
        self.since = 0
        self.is_divided = False
        self.declared: set[str] = set()
        self.changing = changing_arguments(function)

    # --- small things

    def new(self, stem: str = "t") -> str:
        """A name."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def put(self, line: str) -> None:
        """A line."""
        self.lines.append("  " + line)

    def label(self, name: str) -> None:
        """Begins a basic block."""
        self.lines.append(f"{name}:")
        self.since = 0

    def literal(self, node: int, kind: str) -> str | None:
        """A constant operand."""
        x = self.f.value[abs(node)]
        if x is None:
            return None
        if node < 0:
            x = -x
        if kind == "d":
            return "0x" + struct.pack(">d", float(x)).hex().upper()
        if kind == "b":
            return "true" if x else "false"
        return str(int(x))

    def operand(self, node: int, kind: str) -> str:
        """An operand, its sign made explicit."""
        literal = self.literal(node, kind)
        if literal is not None:
            return literal
        value = self.read(abs(node))
        if node > 0:
            return value
        name = "%" + self.new("m")
        if kind == "d":
            self.put(f"{name} = fneg double {value}")
        else:
            self.put(f"{name} = sub i64 0, {value}")
        return name

    def read(self, node: int) -> str:
        """The value of a node; what stands in memory all the time is read where it is used."""
        if not self.is_read_again(node):
            return f"%n{node}"
        pointer, name = self.pointer(*self.f.args[node][:2]), "%" + self.new("r")
        self.put(f"{name} = load double, ptr {pointer}")
        return name

    def is_read_again(self, node: int) -> bool:
        """True for a number of an input: to read it again is better than to keep a copy on the stack."""
        f = self.f
        if f.op[node] != "load" or f.kind[node] != "d":
            return False
        buffer, index = f.args[node][:2]
        is_input = buffer.where == "argument" and buffer.place not in self.changing
        return is_input and f.value[abs(index)] is not None

    # --- memory

    def base(self, buffer: Buffer) -> str:
        """Where a buffer begins."""
        if buffer.where == "argument":
            return f"%a{buffer.place}"
        if buffer.where == "table":
            return f"@table{buffer.place}_{self.f.name}"
        return f"%f{buffer.place}"

    def pointer(self, buffer: Buffer, index: int, scale: int = 1) -> str:
        """Where a number stands."""
        place = self.literal(index, "i")
        if place == "0":
            return self.base(buffer)
        stored = STORED[buffer.dtype]
        at = self.operand(index, "i")
        if scale != 1:
            scaled = "%" + self.new()
            self.put(f"{scaled} = mul i64 {at}, {scale}")
            at = scaled
        name = "%" + self.new("p")
        self.put(
            f"{name} = getelementptr inbounds {stored}, ptr {self.base(buffer)}, i64 {at}"
        )
        return name

    def load(self, node: int, buffer: Buffer, index: int) -> None:
        """Reads a number; short whole numbers and truths become what is computed with."""
        stored = STORED[buffer.dtype]
        pointer = self.pointer(buffer, index)
        if stored in ("double", "i64"):
            self.put(f"%n{node} = load {stored}, ptr {pointer}")
            return
        raw = "%" + self.new()
        self.put(f"{raw} = load {stored}, ptr {pointer}")
        if buffer.dtype == "bool":
            self.put(f"%n{node} = trunc i8 {raw} to i1")
        else:
            widen = "zext" if buffer.dtype.startswith("u") else "sext"
            self.put(f"%n{node} = {widen} {stored} {raw} to i64")

    def store(self, s: StoreNumber) -> None:
        """Writes a number."""
        stored = STORED[s.buffer.dtype]
        kind = {"double": "d", "i8": "b" if s.buffer.dtype == "bool" else "i"}.get(
            stored, "i"
        )
        value = self.operand(s.value, kind)
        if stored != TYPES[kind]:
            narrow = "%" + self.new()
            how = "zext" if kind == "b" else "trunc"
            self.put(f"{narrow} = {how} {TYPES[kind]} {value} to {stored}")
            value = narrow
        pointer = self.pointer(s.buffer, s.index)
        self.put(f"store {stored} {value}, ptr {pointer}")

    # --- nodes

    def node(self, node: int) -> None:
        """Defines a node."""
        f, op, args = self.f, self.f.op[node], self.f.args[node]
        if self.is_read_again(node):
            return
        if op == "load":
            self.load(node, args[0], args[1])
        elif op in SIMPLE:
            self._simple(node, op, args)
        elif op.startswith("select"):
            kind = f.kind[node]
            truth = f"{self.type_of(args[0], 'b')} {self.operand(args[0], 'b')}"
            yes, no = (self.operand_of(node, a, kind) for a in args[1:])
            t = self.type_of(node, kind)
            self.put(f"%n{node} = select {truth}, {t} {yes}, {t} {no}")
        elif op == "bnot":
            truth, t = self.operand_of(node, args[0], "b"), self.type_of(node, "b")
            self.put(f"%n{node} = xor {t} {truth}, {self.constant('true', 'b', node)}")
        elif op in CONVERSIONS:
            how, before, after = CONVERSIONS[op]
            number = (
                f"{self.type_of(node, before)} {self.operand_of(node, args[0], before)}"
            )
            self.put(f"%n{node} = {how} {number} to {self.type_of(node, after)}")
        else:
            self._function(node, op, args)

    def _simple(self, node: int, op: str, args: tuple) -> None:
        kind = {"f": "d", "i": "i", "b": "b"}[op[0]]
        a, b = (self.operand_of(node, x, kind) for x in args)
        how, scalar = SIMPLE[op].rsplit(" ", 1)
        t = self.wide(scalar, node)
        is_carried = any(self.f.op[abs(x)] == "carried" for x in args)
        if is_carried and op in ("fadd", "fsub") and not self.is_wide(node):
            # A sum in a loop may be formed in any order: several at a time.
            how = how.replace("contract", "reassoc contract")
        if op in ("idiv", "irem"):
            b = self.divisor(node, b)
        self.put(f"%n{node} = {how} {t} {a}, {b}")

    # --- width: a node is one number, or in lanes a vector of them

    def is_wide(self, node: int) -> bool:
        """True for a node that is a vector."""
        return False

    def wide(self, scalar: str, node: int) -> str:
        """The type of a node, of a type of single numbers."""
        return lane_math.vector(self.width, scalar) if self.is_wide(node) else scalar

    def type_of(self, node: int, kind: str) -> str:
        """The type of a node, of its kind."""
        return self.wide(TYPES[kind], node)

    def operand_of(self, node: int, operand: int, kind: str) -> str:
        """An operand, as wide as the node that it is for."""
        spread = self.spread if self.is_wide(node) else self.operand
        return spread(operand, kind)

    def constant(self, literal: str, kind: str, node: int) -> str:
        """A constant, as wide as a node."""
        if not self.is_wide(node):
            return literal
        return lane_math.splat(self.width, literal, TYPES[kind])

    def value(self, text: str) -> str:
        """A line that makes a value."""
        name = "%" + self.new()
        self.put(f"{name} = {text}")
        return name

    def spread(self, node: int, kind: str) -> str:
        """An operand in all lanes."""
        if self.is_wide(node):
            return self.operand(node, kind)
        literal = self.literal(node, kind)
        if literal is not None:
            return lane_math.splat(self.width, literal, TYPES[kind])
        return self.broadcast(self.operand(node, kind), TYPES[kind])

    def broadcast(self, value: str, kind: str) -> str:
        """One value in all lanes."""
        v, w = lane_math.vector(self.width, kind), self.width
        first = self.value(f"insertelement {v} poison, {kind} {value}, i64 0")
        zeros = f"<{w} x i32> zeroinitializer"
        return self.value(f"shufflevector {v} {first}, {v} poison, {zeros}")

    def divisor(self, node: int, b: str) -> str:
        """The divisor of whole numbers."""
        return b

    def _function(self, node: int, op: str, args: tuple) -> None:
        name = f"llvm.{op}.f64" if op in INTRINSICS else op
        operands = ", ".join(f"double {self.operand(a, 'd')}" for a in args)
        types = ", ".join(["double"] * len(args))
        self.declared.add(f"declare double @{name}({types}) nounwind memory(none)")
        self.put(f"%n{node} = call double @{name}({operands})")

    # --- statements

    def block(self, block: list[Any]) -> None:
        """Writes a block."""
        for statement in block:
            if isinstance(statement, int):
                self.node(statement)
            else:
                self.statement(statement)
            self.since += 1
            if self.since > LONGEST_BLOCK:
                self._new_block()

    def _new_block(self) -> None:
        """Ends a basic block that is long enough."""
        following = self.new("b")
        if not self.f.arguments:
            self.put(f"br label %{following}")
        else:
            # LLVM would join blocks that always follow each other.
            # It cannot know that no array stands at the last address.
            self.is_divided = True
            end = "%" + self.new()
            self.put(f"{end} = icmp eq ptr %a0, inttoptr (i64 -1 to ptr)")
            self.put(f"br i1 {end}, label %{NEVER}, label %{following}")
        self.label(following)

    def statement(self, s: Any) -> None:
        """Writes a statement."""
        if isinstance(s, StoreNumber):
            self.store(s)
        elif isinstance(s, Copy):
            self._copy(s)
        elif isinstance(s, Call):
            pointers = [f"ptr {self.pointer(*p)}" for p in self._places(s)]
            self.put(f"call void @{self.names[s.function]}({', '.join(pointers)})")
        elif isinstance(s, For):
            self._for(s)
        elif isinstance(s, While):
            self._while(s)
        elif isinstance(s, If):
            self._if(s)

    def _places(self, s: Call):
        for buffer, index in s.pointers:
            scale = 2 if buffer.dtype == "complex128" else 1
            yield buffer, index, scale

    def _copy(self, s: Copy) -> None:
        scale = 2 if s.target.dtype == "complex128" else 1
        target = self.pointer(s.target, s.target_index, scale)
        source = self.pointer(s.source, s.source_index, scale)
        size = s.count * np.dtype(s.target.dtype).itemsize
        self.declared.add(
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)"
        )
        self.put(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)"
        )

    def _for(self, s: For) -> None:
        enter, head, body, tail, leave = (self.new("b") for _ in range(5))
        start = self.operand(s.start, "i")
        stop = self.operand(s.stop, "i")
        firsts = [self.carried_operand(n, a) for n, a, _ in s.carried]
        self.put(f"br label %{enter}")
        self.label(enter)
        self.put(f"br label %{head}")
        self.label(head)
        step = f"%n{s.index}"
        self.put(f"{step} = phi i64 [{start}, %{enter}], [{step}.next, %{tail}]")
        place = len(self.lines)
        for node, _, _ in s.carried:
            self.lines.append(f"{node}")
        going = "%" + self.new()
        self.put(f"{going} = icmp slt i64 {step}, {stop}")
        self.put(f"br i1 {going}, label %{body}, label %{leave}")
        self.label(body)
        self.block(s.block)
        lasts = [self.carried_operand(n, c)[1] for n, _, c in s.carried]
        self.put(f"br label %{tail}")
        self.label(tail)
        self.put(f"{step}.next = add nsw i64 {step}, 1")
        self.put(f"br label %{head}")
        self.label(leave)
        for k, (node, _, _) in enumerate(s.carried):
            t, first = firsts[k]
            self.lines[place + k] = (
                f"  %n{node} = phi {t} [{first}, %{enter}], [{lasts[k]}, %{tail}]"
            )

    def carried_operand(self, node: int, value: int) -> tuple[str, str]:
        """Type and operand of a number that goes round a loop."""
        kind = self.f.kind[node]
        return TYPES[kind], self.operand(value, kind)

    def _while(self, s: While) -> None:
        head, body, leave = (self.new("b") for _ in range(3))
        self.put(f"br label %{head}")
        self.label(head)
        self.block(s.test)
        truth = self.operand(s.condition, "b")
        self.put(f"br i1 {truth}, label %{body}, label %{leave}")
        self.label(body)
        self.block(s.block)
        self.put(f"br label %{head}")
        self.label(leave)

    def _if(self, s: If) -> None:
        yes, no, after = (self.new("b") for _ in range(3))
        truth = self.operand(s.condition, "b")
        self.put(f"br i1 {truth}, label %{yes}, label %{no}")
        for name, block in ((yes, s.yes), (no, s.no)):
            self.label(name)
            self.block(block)
            self.put(f"br label %{after}")
        self.label(after)

    # --- the whole

    def body(self) -> list[str]:
        """All lines between the braces."""
        on_heap = heap_buffers(self.f.frame)
        for buffer in self.f.frame:
            self._frame(buffer, buffer.place in on_heap)
        self.block(self.f.block)
        for buffer in self.f.frame:
            if buffer.place in on_heap:
                self.put(f"call void @free(ptr {self.base(buffer)})")
        self.finish()
        return self.lines

    def finish(self) -> None:
        """Leaves the function."""
        self.put("ret void")
        if self.is_divided:
            self.label(NEVER)
            self.put("ret void")

    def _frame(self, buffer: Buffer, is_on_heap: bool) -> None:
        size = max(bytes_of(buffer), 8)
        if not is_on_heap:
            self.put(f"{self.base(buffer)} = alloca [{size} x i8], align 64")
            return
        self.declared.update(("declare ptr @malloc(i64)", "declare void @free(ptr)"))
        self.put(f"{self.base(buffer)} = call ptr @malloc(i64 {size})")


def changing_arguments(function: Function) -> set[int]:
    """Places of the arguments that a function writes to: its results, and what it overwrites."""
    own = function.arguments
    first_result = len(own) - function.n_results
    changing = [*(buffer for buffer in own if buffer.mutable), *own[first_result:]]
    return {buffer.place for buffer in changing}


def bytes_of(buffer: Buffer) -> int:
    """Size of an array in memory."""
    return buffer.size * np.dtype(buffer.dtype).itemsize


def heap_buffers(frame: list[Buffer], lanes: int = 1, largest: int = LARGE) -> set[int]:
    """Places of the arrays of a function that are not put on the stack: large ones, and what is too much in all."""
    found, together = set(), 0
    for buffer in frame:
        size = bytes_of(buffer) * lanes
        if size > largest or together + size > STACK:
            found.add(buffer.place)
        else:
            together += size
    return found


def table_text(buffer: Buffer, name: str) -> str:
    """A table of constants."""
    stored = STORED[buffer.dtype]
    assert buffer.data is not None
    data = buffer.data
    if buffer.dtype == "complex128":
        data = data.view(float)
    if stored == "double":
        items = [
            "double 0x" + struct.pack(">d", x).hex().upper() for x in data.tolist()
        ]
    else:
        items = [f"{stored} {int(x)}" for x in data.tolist()]
    return f"@table{buffer.place}_{name} = private constant [{len(items)} x {stored}] [{', '.join(items)}]"


def function_text(
    function: Function, names: dict[Function, str], stem: str = "n"
) -> tuple[str, str]:
    """Name and text of a function as a module of its own; the name says what is in it."""
    text = FunctionText(function, names)
    lines = text.body()
    arguments = ", ".join(f"ptr noalias %a{k}" for k in range(len(function.arguments)))
    for called in function.calls:
        types = ", ".join(["ptr"] * len(called.arguments))
        text.declared.add(f"declare void @{names[called]}({types})")
    tables = [table_text(buffer, function.name) for buffer in function.tables]
    body = "\n".join(lines).replace(f"_{function.name}", "_own")
    head = "\n".join([*sorted(text.declared), *tables]).replace(
        f"_{function.name}", "_own"
    )
    name = stem + hashlib.sha256((head + arguments + body).encode()).hexdigest()[:24]
    return name, f"{head}\ndefine void @{name}({arguments}) nounwind {{\n{body}\n}}\n"
