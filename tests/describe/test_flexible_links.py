"""Links of a URDF made flexible: the link as a whole keeps its mass, its centre and its inertia."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.bodies.link_body import body_of
from lissom.describe import DescriptionError
from lissom.describe.flexible_links import beam_from_text, with_flexible_links
from lissom.describe.section_estimate import estimated_section
from lissom.files.triangles import cylinder_triangles

TUBE = {
    "section": {"shape": "tube", "outer": "40 mm", "inner": "36 mm"},
    "material": "aluminium",
    "elements": 3,
}


def arm(mass=3.0, moments=(0.02, 0.25, 0.24), com=(0.35, 0.02, -0.01)):
    """A link whose tip lies off all axes, and a tool on it."""
    tilt = np.linalg.qr(np.array([[9.0, 1, 2], [2, 8, 1], [1, 3, 9]]))[0]
    inertia = (tilt * moments) @ tilt.T
    upper = {"mass": mass, "com": list(com), "inertia": inertia.tolist()}
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    tip = [0.7, 0.1, -0.2]
    mount = {"type": "fixed", "origin": {"xyz": tip}}
    links = [
        {"name": "upper", "joint": joint, "rigid": upper | {"tip": tip}},
        {"name": "tool", "joint": mount, "rigid": {"mass": 0.5}},
    ]
    return {"name": "arm", "links": links}


def rigid_inertia(robot):
    """Inertia of the first link in its six rigid motions about the joint."""
    body = body_of(robot, 0)
    B = np.asarray(body.rigid)
    return B.T @ np.asarray(body.mass_matrix) @ B


@pytest.mark.parametrize(
    "data", [arm(), arm(moments=(0.001, 0.05, 0.0501)), arm(mass=0.6)]
)
def test_a_flexible_link_keeps_mass_centre_and_inertia(data):
    made, (report,) = with_flexible_links(data, {"upper": TUBE})
    before = rigid_inertia(ls.Robot.from_dict(data))
    after = rigid_inertia(ls.Robot.from_dict(made))
    assert_allclose(after, before, atol=1e-12 * np.abs(before).max())
    assert report.beam_mass + report.rest_mass == pytest.approx(report.mass)


def test_a_beam_may_follow_a_path_of_its_own():
    path = [[0, 0, 0], [0.6, 0.0, 0.1], [0.7, 0.1, -0.2]]
    made, (report,) = with_flexible_links(arm(), {"upper": TUBE | {"path": path}})
    before = rigid_inertia(ls.Robot.from_dict(arm()))
    after = rigid_inertia(ls.Robot.from_dict(made))
    assert_allclose(after, before, atol=1e-12 * np.abs(before).max())
    assert report.beam_mass > 0.0
    astray = TUBE | {"path": [[0, 0, 0], [0.6, 0, 0]]}
    with pytest.raises(DescriptionError, match=r"must end at the next joint, \[0.7, 0"):
        with_flexible_links(arm(), {"upper": astray})


def test_a_link_too_compact_for_its_beam_gets_a_lighter_one():
    _, (fits,) = with_flexible_links(arm(), {"upper": TUBE})
    _, (compact,) = with_flexible_links(
        arm(moments=(0.01, 0.011, 0.012)), {"upper": TUBE}
    )
    assert fits.share == 1.0
    assert 0.0 < compact.share < 1.0
    assert "of the density" in str(compact)


def test_the_mass_of_the_beam_alone_counts_if_asked():
    made, (report,) = with_flexible_links(arm(), {"upper": TUBE}, keeps_inertia=False)
    area = np.pi / 4 * (0.04**2 - 0.036**2)
    length = np.linalg.norm([0.7, 0.1, -0.2])
    assert report.mass == pytest.approx(2700 * area * length)
    assert "masses" not in made["links"][0]


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("a=tube:100mm:90mm:steel", {"outer": "100 mm", "inner": "90 mm"}),
        ("a=circle:1e-2:steel", {"diameter": "1e-2"}),
        ("a=box:4cm:3cm:2mm:steel", {"y": "4 cm", "z": "3 cm", "wall": "2 mm"}),
    ],
)
def test_sections_are_read_from_short_texts(text, section):
    name, beam = beam_from_text(text)
    assert name == "a" and beam["material"] == "steel"
    assert {k: v for k, v in beam["section"].items() if k != "shape"} == section


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: beam_from_text("a=tub:1:2:steel"), ["tub", "'tube'"]),
        (lambda: beam_from_text("a=tube:1:steel"), ["OUTER:INNER:MATERIAL"]),
        (lambda: beam_from_text("upper"), ["upper", "LINK=tube"]),
        (
            lambda: with_flexible_links(arm(), {"uper": TUBE}),
            ["uper", "'upper'", "tool"],
        ),
        (
            lambda: with_flexible_links(arm(mass=0.1), {"upper": TUBE}),
            ["0.47", "0.1 kg", "--beam-mass"],
        ),
        (lambda: with_flexible_links(arm(), {"tool": TUBE}), ["tool", "no length"]),
        (
            lambda: with_flexible_links(arm(moments=(0.0, 0.0, 0.0)), {"upper": TUBE}),
            ["too small for a beam", "--beam-mass"],
        ),
    ],
)
def test_what_cannot_be_made_flexible_is_refused(call, words):
    with pytest.raises(DescriptionError) as refusal:
        call()
    message = str(refusal.value)
    assert all(word in message for word in words), message


def test_an_estimate_is_a_tube_with_the_inertia_about_its_axis():
    """A thin tube of radius r has m r^2 about its axis; a quarter of the mass is its wall."""
    data = arm(com=(0.35, 0.05, -0.1))
    upper = data["links"][0]["rigid"]
    axis = np.array(upper["tip"]) / np.linalg.norm(upper["tip"])
    about_axis = axis @ np.array(upper["inertia"]) @ axis
    section, said = estimated_section(data["links"][0], "aluminium")
    assert section["outer"] == pytest.approx(2 * np.sqrt(about_axis / upper["mass"]))
    area = np.pi / 4 * (section["outer"] ** 2 - section["inner"] ** 2)
    length = np.linalg.norm(upper["tip"])
    assert 2700 * area * length == pytest.approx(0.25 * upper["mass"], rel=0.01)
    assert "estimate from its inertia" in said
    made, (report,) = with_flexible_links(data, {"upper": "estimate:aluminium"})
    assert "replace it by known values" in str(report)
    assert made["links"][0]["beam"]["section"] == section


def test_an_estimate_follows_the_shape_where_there_is_one():
    data = arm()
    tip = np.array(data["links"][0]["rigid"]["tip"])
    length = np.linalg.norm(tip)
    z = tip / length
    x = np.cross(z, [0.0, 1.0, 0.3])
    x = x / np.linalg.norm(x)
    R = np.stack([x, np.cross(z, x), z], axis=1)
    surface = cylinder_triangles(0.06, length) @ R.T + tip / 2 + 0.01 * x
    section, said = estimated_section(data["links"][0], "steel", surface)
    assert section["outer"] == pytest.approx(0.12, rel=0.01)
    assert "estimate from its shape" in said


@pytest.mark.parametrize(
    "text, message",
    [
        ("upper=estimate", "an estimate needs a material"),
        ("upper=estimate:aluminum", "no such material, did you mean 'aluminium'"),
        ("tool=estimate:steel", "has no length: nothing to estimate"),
    ],
)
def test_an_estimate_that_cannot_be_made_says_why(text, message):
    with pytest.raises(DescriptionError, match=message):
        with_flexible_links(arm(), dict([beam_from_text(text)]))
