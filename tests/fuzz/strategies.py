"""`hypothesis` strategies: robots that are valid by construction, and one field of them broken."""

from typing import Any

from hypothesis import strategies as st

LENGTH = st.floats(0.05, 2.0)
SIDE = st.floats(0.005, 0.05)
ANGLE = st.floats(-3.0, 3.0)
POSITIVE = st.floats(1e-3, 1e3)
NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,11}", fullmatch=True)


def vectors(size: float) -> st.SearchStrategy[list[float]]:
    """Three numbers, never all small."""
    part = st.floats(-size, size)
    return st.builds(lambda x, y: [x, y, 0.5 * size], part, part)


def sections() -> st.SearchStrategy[dict[str, Any]]:
    """Every shape of a uniform section."""
    hollow = st.builds(
        lambda outer, share: {"shape": "tube", "outer": outer, "inner": share * outer},
        SIDE,
        st.floats(0.1, 0.9),
    )
    box = st.builds(
        lambda y, z, share: {"shape": "box", "y": y, "z": z, "wall": share * min(y, z)},
        SIDE,
        SIDE,
        st.floats(0.05, 0.45),
    )
    return st.one_of(
        st.fixed_dictionaries({"shape": st.just("rectangle"), "y": SIDE, "z": SIDE}),
        st.fixed_dictionaries({"shape": st.just("circle"), "diameter": SIDE}),
        hollow,
        box,
    )


MATERIALS = st.one_of(
    st.sampled_from(["steel", "aluminium"]),
    st.fixed_dictionaries(
        {
            "E": st.floats(1e9, 3e11),
            "nu": st.floats(0.0, 0.45),
            "density": st.floats(500.0, 1e4),
        }
    ),
)


def beams() -> st.SearchStrategy[dict[str, Any]]:
    """Beams along paths of one or two pieces."""
    paths = st.builds(
        lambda length, second, bent: (
            [[0, 0, 0], [length, 0, 0], [length, second, 0.1]]
            if bent
            else [[0, 0, 0], [length, 0, 0]]
        ),
        LENGTH,
        LENGTH,
        st.booleans(),
    )
    return st.fixed_dictionaries(
        {"path": paths, "section": sections(), "material": MATERIALS},
        optional={
            "elements": st.integers(1, 6),
            "theory": st.sampled_from(["euler-bernoulli", "timoshenko"]),
            "mass": st.sampled_from(["consistent", "lumped"]),
            "up": st.just([0.1, 0.2, 1.0]),
        },
    )


def bodies() -> st.SearchStrategy[dict[str, Any]]:
    """A beam or a rigid body, under its key."""
    rigid = st.fixed_dictionaries(
        {"mass": POSITIVE, "com": vectors(0.3), "tip": vectors(0.5)},
        optional={"inertia": st.lists(st.floats(1e-3, 1.0), min_size=3, max_size=3)},
    )
    return st.one_of(
        st.fixed_dictionaries({"beam": beams()}),
        st.fixed_dictionaries({"rigid": rigid}),
    )


def joints() -> st.SearchStrategy[dict[str, Any]]:
    """Every kind of joint, with what drives and brakes it."""
    origin = st.fixed_dictionaries({"rpy": st.lists(ANGLE, min_size=3, max_size=3)})
    friction = {"viscous": POSITIVE, "coulomb": POSITIVE, "width": st.floats(0.01, 1.0)}
    moving = st.fixed_dictionaries(
        {"type": st.sampled_from(["revolute", "prismatic"])},
        optional={
            "origin": origin,
            "axis": vectors(1.0),
            "motor": st.fixed_dictionaries({"inertia": POSITIVE, "ratio": POSITIVE}),
            "friction": st.fixed_dictionaries(friction),
            "actuated": st.booleans(),
        },
    )
    fixed = st.fixed_dictionaries(
        {"type": st.just("fixed")}, optional={"origin": origin}
    )
    return st.one_of(moving, moving, fixed)


@st.composite
def robots(draw: st.DrawFn) -> dict[str, Any]:
    """Whole robots: chains of one to four links."""
    names = draw(st.lists(NAMES.filter(_is_free), min_size=1, max_size=4, unique=True))
    links = []
    for name in names:
        links.append({"name": name, "joint": draw(joints()), **draw(bodies())})
    robot = {"lissom": 1, "name": draw(NAMES), "links": links}
    extras = {
        "gravity": vectors(9.81),
        "damping": st.fixed_dictionaries({"ratio": st.floats(0.0, 0.5)}),
        "payload": st.fixed_dictionaries({"mass": POSITIVE, "offset": vectors(0.1)}),
        "count": st.just(len(links)),
    }
    return robot | draw(st.fixed_dictionaries({}, optional=extras))


def _is_free(name: str) -> bool:
    return name != "ground"


# A place in the first link or in the robot, a value that is wrong there, and the word that the message must name.
BROKEN = st.sampled_from(
    [
        (("lissom",), 2, "lissom"),
        (("gravity",), [0, 0], "gravity"),
        (("gravity",), "down", "gravity"),
        (("gravity",), [0, 0, float("nan")], "gravity"),
        (("links",), [], "links"),
        (("links", 0, "joint", "type"), "ball", "type"),
        (("links", 0, "joint", "axis"), [0, 0, 0], "axis"),
        (("links", 0, "joint", "colour"), "red", "colour"),
        (("links", 0, "joint"), None, "joint"),
        (("links", 0, "name"), "", "name"),
        (("links", 0, "parent"), "nobody", "parent"),
        (("links", 0, "beem"), {}, "beem"),
        (("links", 0, "masses"), [{"node": 0, "mass": -1.0}], "mass"),
        (("payload",), {"mass": float("inf")}, "payload"),
        (("count",), 77, "count"),
        (("damping",), {"ratio": 1.5}, "ratio"),
        (("damping",), {"ratio": 0.1, "alpha": 0.2}, "ratio"),
    ]
)
