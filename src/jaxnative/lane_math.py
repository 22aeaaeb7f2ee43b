"""Functions of whole vectors for LLVM: sine and cosine as polynomials, all others one lane after the other."""

import struct

# pi/2 in three parts, and the polynomials of sine and cosine on [-pi/4, pi/4]: fdlibm 5.3, k_sin.c and k_cos.c.
QUARTER = (
    1.57079632679489655800e00,
    6.12323399573676603587e-17,
    -1.49738490485916983294e-33,
)
TWO_OVER_PI = 6.36619772367581382433e-01
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
FARTHEST = 1e6  # beyond that the C library has to do it
POLYNOMIALS = ("sin", "cos")


def vector(width: int, kind: str = "double") -> str:
    """Type of a vector."""
    return f"<{width} x {kind}>"


def literal(x: float) -> str:
    """A double in LLVM's text."""
    return "0x" + struct.pack(">d", x).hex().upper()


def splat(width: int, value: str, kind: str = "double") -> str:
    """A constant in all lanes."""
    return "<" + ", ".join([f"{kind} {value}"] * width) + ">"


def function_name(name: str, width: int) -> str:
    """Name of a function of vectors."""
    return f"lanes{width}_{name}"


def function_text(name: str, count: int, width: int) -> str:
    """A function of vectors, with what it needs."""
    if name in POLYNOMIALS:
        return _Polynomial(name, width).text()
    return _one_by_one(function_name(name, width), name, count, width)


def _one_by_one(own: str, name: str, count: int, width: int) -> str:
    """A function of the C library, called for each lane."""
    v = vector(width)
    parameters = ", ".join(f"{v} %x{k}" for k in range(count))
    lines = [f"define internal {v} @{own}({parameters}) nounwind noinline {{"]
    before = "poison"
    for lane in range(width):
        values = []
        for k in range(count):
            lines.append(f"  %x{k}_{lane} = extractelement {v} %x{k}, i64 {lane}")
            values.append(f"double %x{k}_{lane}")
        lines.append(f"  %y{lane} = call double @{name}({', '.join(values)})")
        lines.append(
            f"  %r{lane} = insertelement {v} {before}, double %y{lane}, i64 {lane}"
        )
        before = f"%r{lane}"
    types = ", ".join(["double"] * count)
    declared = f"declare double @{name}({types}) nounwind memory(none)"
    return "\n".join([declared, *lines, f"  ret {v} {before}", "}"])


class _Polynomial:
    """Writes sine or cosine: the angle less whole quarter turns, then a polynomial, then the sign."""

    def __init__(self, name: str, width: int):
        self.name = name
        self.width = width
        self.v = vector(width)
        self.lines: list[str] = []
        self.count = 0

    def put(self, text: str) -> str:
        """A value."""
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, x: float) -> str:
        """A number in all lanes."""
        return splat(self.width, literal(x))

    def fma(self, a: str, b: str, c: str) -> str:
        """The sum a b + c with one rounding."""
        v = self.v
        name = f"@llvm.fma.v{self.width}f64"
        return self.put(f"call {v} {name}({v} {a}, {v} {b}, {v} {c})")

    def times(self, a: str, b: str) -> str:
        """Product."""
        return self.put(f"fmul {self.v} {a}, {b}")

    def plus(self, a: str, b: str) -> str:
        """Sum."""
        return self.put(f"fadd {self.v} {a}, {b}")

    def minus(self, a: str, b: str) -> str:
        """Difference."""
        return self.put(f"fsub {self.v} {a}, {b}")

    def opposite(self, a: str) -> str:
        """The negative."""
        return self.put(f"fneg {self.v} {a}")

    def unary(self, name: str, a: str) -> str:
        """A function that LLVM knows."""
        v = self.v
        return self.put(f"call {v} @llvm.{name}.v{self.width}f64({v} {a})")

    def horner(self, z: str, coefficients: tuple[float, ...]) -> str:
        """Polynomial in z."""
        total = self.number(coefficients[-1])
        for c in coefficients[-2::-1]:
            total = self.fma(z, total, self.number(c))
        return total

    def quarters(self) -> tuple[str, str, str]:
        """How many quarter turns go off the angle, and the rest in two parts."""
        turns = self.unary("rint", self.times("%x", self.number(TWO_OVER_PI)))
        less = self.opposite(turns)
        first = self.fma(less, self.number(QUARTER[0]), "%x")
        # The second part is as large as what the first one left: product and sum are taken with their rounding errors.
        off = self.times(less, self.number(QUARTER[1]))
        off_error = self.fma(less, self.number(QUARTER[1]), self.opposite(off))
        high = self.plus(first, off)
        moved = self.minus(high, first)
        lost = self.minus(first, self.minus(high, moved))
        low = self.plus(lost, self.minus(off, moved))
        low = self.plus(low, off_error)
        low = self.fma(less, self.number(QUARTER[2]), low)
        return turns, high, low

    def sine(self, x: str, y: str, z: str) -> str:
        """Sine of x + y, z = x^2 [fdlibm k_sin.c]."""
        v = self.times(z, x)
        r = self.horner(z, SINE[1:])
        half = self.times(self.number(0.5), y)
        inner = self.fma(self.opposite(v), r, half)
        inner = self.fma(z, inner, self.opposite(y))
        inner = self.fma(self.opposite(v), self.number(SINE[0]), inner)
        return self.minus(x, inner)

    def cosine(self, x: str, y: str, z: str) -> str:
        """Cosine of x + y, z = x^2 [fdlibm k_cos.c]."""
        half = self.times(self.number(0.5), z)
        w = self.minus(self.number(1.0), half)
        lost = self.minus(self.minus(self.number(1.0), w), half)
        r = self.times(z, self.horner(z, COSINE))
        rest = self.fma(z, r, self.opposite(self.times(x, y)))
        return self.plus(w, self.plus(lost, rest))

    def text(self) -> str:
        """The whole function."""
        own = function_name(self.name, self.width)
        slow = function_name(f"slow_{self.name}", self.width)
        turns, x, y = self.quarters()
        z = self.times(x, x)
        sine, cosine = self.sine(x, y, z), self.cosine(x, y, z)
        result = self.chosen(turns, sine, cosine)
        v, w = self.v, self.width
        head = [
            f"define internal {v} @{own}({v} %x) nounwind noinline {{",
            f"  %size = call {v} @llvm.fabs.v{w}f64({v} %x)",
            # Not a number is not near either.
            f"  %near = fcmp olt {v} %size, {self.number(FARTHEST)}",
            f"  %bits = bitcast <{w} x i1> %near to i{w}",
            f"  %all = icmp eq i{w} %bits, -1",
            "  br i1 %all, label %here, label %there",
            "there:",
            f"  %far = call {v} @{slow}({v} %x)",
            f"  ret {v} %far",
            "here:",
        ]
        declared = [
            f"declare {v} @llvm.{name}.v{w}f64({v}) nounwind memory(none)"
            for name in ("fabs", "rint")
        ]
        declared.append(f"declare {v} @llvm.fma.v{w}f64({v}, {v}, {v})")
        tail = [f"  ret {v} {result}", "}"]
        others = _one_by_one(slow, self.name, 1, w)
        return "\n".join([*declared, others, *head, *self.lines, *tail])

    def chosen(self, turns: str, sine: str, cosine: str) -> str:
        """Sine or cosine of the rest, with its sign, by the quarter turns."""
        w, whole = self.width, vector(self.width, "i64")
        number = self.put(f"fptosi {self.v} {turns} to {whole}")
        if self.name == "cos":
            number = self.put(f"add {whole} {number}, {splat(w, '1', 'i64')}")
        odd = self.put(f"trunc {whole} {number} to <{w} x i1>")
        shifted = self.put(f"lshr {whole} {number}, {splat(w, '1', 'i64')}")
        is_negative = self.put(f"trunc {whole} {shifted} to <{w} x i1>")
        value = self.put(f"select <{w} x i1> {odd}, {self.v} {cosine}, {self.v} {sine}")
        opposite = self.opposite(value)
        return self.put(
            f"select <{w} x i1> {is_negative}, {self.v} {opposite}, {self.v} {value}"
        )
