"""Functions of whole vectors for LLVM: sine and cosine as polynomials, all others one lane after the other."""

from .llvm_lines import LlvmLines, literal, splat

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
FARTHEST = 1e6  # larger angles go to the C library
# Their values may differ from the C library's in the last bit, except at zero.
POLYNOMIALS = ("sin", "cos")


def function_name(name: str, width: int) -> str:
    """Name of a function of vectors."""
    return f"lanes{width}_{name}"


def function_text(name: str, count: int, width: int) -> tuple[set[str], str]:
    """What a function of vectors declares, and its text with all that it needs."""
    if name in POLYNOMIALS:
        return _Polynomial(name, width).written()
    return _one_by_one(function_name(name, width), name, count, width)


def _one_by_one(own: str, name: str, count: int, width: int) -> tuple[set[str], str]:
    """A function of the C library, called for each lane."""
    t = LlvmLines(width)
    v, found = t.vector(), "poison"
    for lane in range(width):
        numbers = [
            t.value(f"extractelement {v} %x{k}, i64 {lane}") for k in range(count)
        ]
        values = ", ".join(f"double {x}" for x in numbers)
        y = t.value(f"call double @{name}({values})")
        found = t.value(f"insertelement {v} {found}, double {y}, i64 {lane}")
    t.put(f"ret {v} {found}")
    types = ", ".join(["double"] * count)
    t.declared.add(f"declare double @{name}({types}) nounwind memory(none)")
    return t.declared, _definition(own, count, t)


def _definition(own: str, count: int, t: LlvmLines) -> str:
    v = t.vector()
    parameters = ", ".join(f"{v} %x{k}" for k in range(count))
    opening = f"define internal {v} @{own}({parameters}) nounwind noinline {{"
    return "\n".join([opening, *t.lines, "}"])


class _Polynomial(LlvmLines):
    """Writes sine or cosine: the angle less whole quarter turns, then a polynomial, then the sign."""

    def __init__(self, name: str, width: int):
        super().__init__(width)
        self.name = name
        self.v = self.vector()

    def number(self, x: float) -> str:
        """A number in all lanes."""
        return splat(self.width, literal(x))

    def fma(self, a: str, b: str, c: str) -> str:
        """The sum a b + c with one rounding."""
        return self.known("fma", a, b, c)

    def times(self, a: str, b: str) -> str:
        """Product."""
        return self.value(f"fmul {self.v} {a}, {b}")

    def plus(self, a: str, b: str) -> str:
        """Sum."""
        return self.value(f"fadd {self.v} {a}, {b}")

    def minus(self, a: str, b: str) -> str:
        """Difference."""
        return self.value(f"fsub {self.v} {a}, {b}")

    def opposite(self, a: str) -> str:
        """The negative."""
        return self.value(f"fneg {self.v} {a}")

    def known(self, name: str, *operands: str) -> str:
        """A function that LLVM knows."""
        v, name = self.v, f"@llvm.{name}.v{self.width}f64"
        types = ", ".join([v] * len(operands))
        self.declared.add(f"declare {v} {name}({types}) nounwind memory(none)")
        values = ", ".join(f"{v} {x}" for x in operands)
        return self.value(f"call {v} {name}({values})")

    def horner(self, z: str, coefficients: tuple[float, ...]) -> str:
        """Polynomial in z."""
        total = self.number(coefficients[-1])
        for c in coefficients[-2::-1]:
            total = self.fma(z, total, self.number(c))
        return total

    def quarters(self) -> tuple[str, str, str]:
        """How many quarter turns go off the angle, and the rest in two parts."""
        turns = self.known("rint", self.times("%x0", self.number(TWO_OVER_PI)))
        less = self.opposite(turns)
        first = self.fma(less, self.number(QUARTER[0]), "%x0")
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

    def written(self) -> tuple[set[str], str]:
        """What the function declares, and its text."""
        slow, v = function_name(f"slow_{self.name}", self.width), self.v
        declared, others = _one_by_one(slow, self.name, 1, self.width)
        # Not a number is no small one either.
        size = self.known("fabs", "%x0")
        is_small = self.value(f"fcmp olt {v} {size}, {self.number(FARTHEST)}")
        bits = self.value(f"bitcast {self.vector('i1')} {is_small} to i{self.width}")
        self.put(
            f"br i1 {self.value(f'icmp eq i{self.width} {bits}, -1')}, label %here, label %there"
        )
        self.label("there")
        self.put(f"ret {v} {self.value(f'call {v} @{slow}({v} %x0)')}")
        self.label("here")
        turns, x, y = self.quarters()
        z = self.times(x, x)
        sine, cosine = self.sine(x, y, z), self.cosine(x, y, z)
        self.put(f"ret {v} {self.chosen(turns, sine, cosine)}")
        own = _definition(function_name(self.name, self.width), 1, self)
        return declared | self.declared, f"{others}\n{own}"

    def chosen(self, turns: str, sine: str, cosine: str) -> str:
        """Sine or cosine of the rest, with its sign, by the quarter turns."""
        w, whole = self.width, self.vector("i64")
        number = self.value(f"fptosi {self.v} {turns} to {whole}")
        if self.name == "cos":
            number = self.value(f"add {whole} {number}, {splat(w, '1', 'i64')}")
        odd = self.value(f"trunc {whole} {number} to <{w} x i1>")
        shifted = self.value(f"lshr {whole} {number}, {splat(w, '1', 'i64')}")
        is_negative = self.value(f"trunc {whole} {shifted} to <{w} x i1>")
        value = self.value(
            f"select <{w} x i1> {odd}, {self.v} {cosine}, {self.v} {sine}"
        )
        opposite = self.opposite(value)
        return self.value(
            f"select <{w} x i1> {is_negative}, {self.v} {opposite}, {self.v} {value}"
        )
