"""Loops and branches of a traced program: they stay loops and branches, on arrays in memory."""

from typing import Any

import numpy as np

from .few_rows import FEW
from .jaxpr import closed, groups, scan_sizes
from .marks import ROWS
from .program import ZERO, If, While, kind_of
from .traced_program import Environment, sole_call
from .untranslatable import Untranslatable
from .values import (
    SMALL,
    Lazy,
    Memory,
    Nodes,
    Value,
    is_dense,
    size_of,
    sources_of,
)


def _lend(tr, values: list[Value]) -> list[Value]:
    """Values that a block reads but may not overwrite, computed before it begins."""
    return [
        value if isinstance(value, Nodes) else tr.settled(value) for value in values
    ]


def _carry(tr, values: list[Value], avals: list[Any]) -> list[Memory]:
    """Memory for the carry of a loop, with its initial values."""
    places: list[Memory] = []
    for k, (value, aval) in enumerate(zip(values, avals, strict=True)):
        others = [v for j, v in enumerate(values) if j != k]
        read_by_others = any(
            isinstance(value, Memory) and value.buffer in sources_of(v) for v in others
        )
        if (
            isinstance(value, Memory)
            and value.buffer.dtype == aval.dtype.name
            and not read_by_others
            and tr.is_own(value)
        ):
            places.append(value)
            value.known = None
        else:
            shape = tuple(aval.shape)
            kind = kind_of(aval.dtype)
            target = tr.store.allocate(kind, shape, tr.owner, aval.dtype)
            tr.store.assign(target, value)
            places.append(target)
    return places


def _put_back(tr, places: list[Memory], values: list[Value]) -> None:
    """Writes new values to where the old ones were; all are computed before the first is overwritten."""
    ready = []
    for place, value in zip(places, values, strict=True):
        others = {p.buffer for p in places if p is not place}
        if isinstance(value, Memory) and value.buffer is place.buffer:
            is_same = value.offset == place.offset and is_dense(value)
            if is_same and value.shape == place.shape:
                ready.append(None)
                continue
        if isinstance(value, Lazy) and not (value.sources & (others | {place.buffer})):
            ready.append(value)
            continue
        if isinstance(value, Lazy) or sources_of(value) & (others | {place.buffer}):
            if isinstance(value, Memory):
                copy = tr.store.allocate(
                    value.kind, value.shape, tr.owner, value.buffer.dtype
                )
                tr.store.assign(copy, value)
                value = copy
            else:
                value = tr.store.in_memory(value, tr.owner)
        ready.append(value)
    for place, value in zip(places, ready, strict=True):
        if value is not None:
            tr.store.assign(place, value)


def _views(places: list[Memory], owner: Any) -> list[Value]:
    """The memory of a loop as values of its body, which may overwrite them."""
    for place in places:
        place.buffer.owner = owner
        place.buffer.version += 1
    return [Memory(p.kind, p.buffer, p.offset, p.strides, p.shape) for p in places]


def _loaded(tr, places: list[Memory]) -> list[Value]:
    """What a loop left in memory, as values of the block around it."""
    for place in places:
        place.buffer.owner = tr.owner
        place.buffer.version += 1
    return [
        tr.store.nodes(p) if size_of(p.shape) <= SMALL else p.fresh() for p in places
    ]


def _run_body(tr, program: Any, fixed, places, extra=()):
    """Outputs of a loop's body, its carried memory being its own."""
    here = Environment()
    carried = _views(places, here)
    values = [*fixed, *[_small_nodes(tr, v) for v in carried], *extra]
    return tr.walk(program, values, here)


def _small_nodes(tr, value: Value) -> Value:
    if size_of(value.shape) <= SMALL:
        return tr.store.nodes(value)
    return value


def _while(tr, params, operands, mark):
    sizes = (params["cond_nconsts"], params["body_nconsts"])
    for_test, for_body, carry = groups(operands, *sizes)
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    if test.out_avals[0].shape:
        raise Untranslatable("a loop that `vmap` made of several: `vmap_rows` has one")
    for_test, for_body = _lend(tr, for_test), _lend(tr, for_body)
    avals = [v.aval for v in body.jaxpr.outvars]
    places = _carry(tr, carry, avals)
    builder = tr.builder
    builder.open("while")
    (condition,) = _run_body(tr, test, for_test, places)
    condition = int(tr.store.nodes(condition).parts[0])
    tr.environments.pop()
    test_block = builder.close()
    builder.open("while")
    outputs = _run_body(tr, body, for_body, places)
    _put_back(tr, places, outputs)
    tr.environments.pop()
    block = builder.close()
    builder.emit(While(test_block, condition, block))
    builder.function.loops = True
    return _loaded(tr, places)


def _scan(tr, params, operands, mark):
    sizes = scan_sizes(params)
    fixed, carry, stacks = groups(operands, *sizes)
    length, body = params["length"], params["jaxpr"]
    rows = mark == ROWS
    if tr.unrolls and not rows and (stacks or length <= 3):
        return _unrolled(tr, params, fixed, carry, stacks)
    fixed = _lend(tr, fixed)
    stacks = [tr.store.in_memory(value, tr.owner) for value in stacks]
    n_carry = len(carry)
    variables = body.jaxpr.outvars
    places = _carry(tr, carry, [v.aval for v in variables[:n_carry]])
    targets = []
    for variable in variables[n_carry:]:
        aval = variable.aval
        shape = (length, *aval.shape)
        kind = kind_of(aval.dtype)
        targets.append(tr.store.allocate(kind, shape, tr.owner, aval.dtype))
    call = sole_call(body) if rows and not carry and 0 < length <= FEW else None
    if call is not None:
        rows_of = dict(zip(body.jaxpr.invars, [*fixed, *stacks], strict=True))
        tr.call_on_rows(call, rows_of, body.jaxpr.invars[len(fixed) :], targets)
    elif length:
        _count_rows(tr, params, fixed, places, stacks, targets)
    return [*_loaded(tr, places), *_loaded(tr, targets)]


def _count_rows(tr, params, fixed, places, stacks, targets) -> None:
    body, length = params["jaxpr"], params["length"]

    def once(step):
        i = step
        if params["reverse"]:
            i = tr.math.iadd(tr.builder.whole(length - 1), -step)
        inputs = [_small_nodes(tr, _row(tr, stack, i)) for stack in stacks]
        # A counting loop moves nothing out that its body might change.
        outputs = _run_body(tr, body, fixed, places, inputs)
        n_carry = len(places)
        for target, value in zip(targets, outputs[n_carry:], strict=True):
            tr.store.assign(_row(tr, target, i), value)
        _put_back(tr, places, outputs[:n_carry])
        tr.environments.pop()

    tr.store.count(ZERO, tr.builder.whole(length), once)


def _row(tr, stack: Memory, i: int) -> Memory:
    step = tr.math.imul(i, tr.builder.whole(stack.strides[0]))
    offset = tr.math.iadd(stack.offset, step)
    return Memory(stack.kind, stack.buffer, offset, stack.strides[1:], stack.shape[1:])


def _unrolled(tr, params, fixed, carry, stacks):
    length = params["length"]
    order = range(length - 1, -1, -1) if params["reverse"] else range(length)
    stacks = [tr.store.nodes(value) for value in stacks]
    n_carry, rows = len(carry), [[] for _ in range(length)]
    for i in order:
        inputs = [
            Nodes(s.kind, tuple(np.asarray(p[i]) for p in s.parts)) for s in stacks
        ]
        outputs = tr.run(params["jaxpr"], [*fixed, *carry, *inputs])
        carry, rows[i] = outputs[:n_carry], outputs[n_carry:]
    stacked = []
    for column in zip(*rows, strict=True):
        nodes = [tr.store.nodes(value) for value in column]
        parts = zip(*[n.parts for n in nodes], strict=True)
        stacked.append(Nodes(nodes[0].kind, tuple(np.stack(p) for p in parts)))
    return [*carry, *stacked]


def _cond(tr, params, operands, mark):
    choice, *others = operands
    programs = [closed(branch) for branch in params["branches"]]
    number = int(tr.store.nodes(choice).parts[0])
    known = tr.builder.number(number)
    if known is not None:
        picked = min(max(int(known), 0), len(programs) - 1)
        return tr.run(programs[picked], others, in_line=True)
    others = _lend(tr, others)
    targets = _targets(tr, programs, others)
    _branch(tr, number, choice.kind, programs, others, targets)
    return _loaded(tr, targets)


def _targets(tr, programs, others: list[Value]) -> list[Memory]:
    """Where the results of branches go: what a branch hands through stays where it is, if nobody else reads it."""
    targets: list[Memory] = []
    for k, variable in enumerate(programs[0].jaxpr.outvars):
        aval = variable.aval
        unchanged = _handed_through(programs, others, k)
        used = {target.buffer for target in targets}
        if (
            unchanged is not None
            and unchanged.buffer.dtype == aval.dtype.name
            and unchanged.buffer not in used
            and tr.is_own(unchanged)
        ):
            unchanged.known = None
            targets.append(unchanged)
            continue
        kind, shape = kind_of(aval.dtype), tuple(aval.shape)
        targets.append(tr.store.allocate(kind, shape, tr.owner, aval.dtype))
    return targets


def _handed_through(programs, others: list[Value], k: int) -> Memory | None:
    """The operand in memory that some branch returns as its result k, as it is."""
    for program in programs:
        places = program.jaxpr.invars
        atom = program.jaxpr.outvars[k]
        if atom in places:
            value = others[places.index(atom)]
            return value if isinstance(value, Memory) else None
    return None


def _branch(tr, number, kind, programs, others, targets, k=0) -> None:
    """Branch k, or one of those after it."""
    if k == len(programs) - 1:
        _run_branch(tr, programs[k], others, targets)
        return
    if kind == "b":
        is_this = tr.math.negate(number)
    elif k == 0:
        is_this = tr.math.compare("ile", number, ZERO)
    else:
        is_this = tr.math.compare("ieq", number, tr.builder.whole(k))
    tr.builder.open("if")
    _run_branch(tr, programs[k], others, targets)
    yes = tr.builder.close()
    tr.builder.open("if")
    _branch(tr, number, kind, programs, others, targets, k=k + 1)
    no = tr.builder.close()
    tr.builder.emit(If(is_this, yes, no))


def _run_branch(tr, program, others, targets) -> None:
    before = tr.builder.arrays
    outputs = tr.run(program, others)
    in_place = tr.computed_in_place(outputs, targets, before)
    left = [k for k in range(len(targets)) if k not in in_place]
    _put_back(tr, [targets[k] for k in left], [outputs[k] for k in left])
    tr.put_in_place(outputs, targets, in_place)


def _linear_solve(tr, params, operands, mark):
    n = params["const_lengths"]
    _, _, for_solution, _, b = groups(
        operands, n.matvec, n.vecmat, n.solve, n.transpose_solve
    )
    return tr.run(params["jaxprs"].solve, [*for_solution, *b], in_line=True)


def _through(tr, params, operands, mark):
    """Checks that only stop a program, and words for other transformations: their operands pass through."""
    return operands


CONTROL = {
    "while": _while,
    "scan": _scan,
    "cond": _cond,
    "custom_linear_solve": _linear_solve,
    "nontraceable": _through,
    "nondifferentiable": _through,
    "nonbatchable": _through,
    "device_put": _through,
}
