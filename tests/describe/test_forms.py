"""What forms are told of a file: every key that the classes know, with what it accepts."""

import pytest

from lissom.describe import Beam, Joint, Limits, Link, Material, Robot
from lissom.describe.controllers import CONTROLLERS
from lissom.describe.forms import file_forms
from lissom.describe.planned_motions import MOTIONS
from lissom.files.part import keys_of


@pytest.fixture(scope="module")
def robot():
    return file_forms()["robot"]


def field_of(part, *keys):
    """The field at a path of keys."""
    for key in keys:
        part = next(field for field in part.fields if field.key == key)
    return part


def test_forms_have_every_field_of_every_controller():
    forms = file_forms()["controller"].forms
    assert [form.type for form in forms] == list(CONTROLLERS)
    for form in forms:
        keys = {field.key for field in form.fields}
        assert keys == set(CONTROLLERS[form.type].model_fields) - {"type"}
        assert form.named == {"type": form.type}
        assert form.about.endswith(".")
    pid = next(form for form in forms if form.type == "pid")
    motion = field_of(pid, "reference")
    assert [form.type for form in motion.forms] == ["table", *MOTIONS]
    # A table has no type in files.
    assert motion.forms[0].named == {} and motion.forms[1].named
    assert field_of(pid, "gains").kind == "part"
    types = field_of(pid, "shaper", "type")
    assert "zvd" in types.choices and types.default == "zvd"


@pytest.mark.parametrize(
    ("part", "path"),
    [
        (Robot, ()),
        (Link, ("links",)),
        (Joint, ("links", "joint")),
        (Limits, ("links", "joint", "limits")),
        (Beam, ("links", "beam")),
        (Material, ("links", "beam", "material")),
    ],
)
def test_forms_have_every_key_of_a_robot(robot, part, path):
    found = [field.key for field in field_of(robot, *path).fields]
    assert found == list(keys_of(part))


def test_a_field_says_what_the_file_accepts(robot):
    stiffness = field_of(robot, "links", "joint", "limits", "stop", "stiffness")
    assert (stiffness.kind, stiffness.unit) == ("number", "N m/rad or N/m")
    assert "milliradian" in stiffness.help
    assert field_of(robot, "links", "joint", "limits", "stop").switch
    assert not field_of(robot, "links", "joint", "motor").switch
    leader = field_of(robot, "links", "joint", "follows", "joint")
    assert (leader.kind, leader.required) == ("word", True)
    assert field_of(robot, "loops").kind == "parts"
    assert field_of(robot, "gravity").default == [0.0, 0.0, -9.81]
    section = field_of(robot, "links", "beam", "section")
    assert [form.type for form in section.forms][-2:] == ["general", "taper"]
    assert section.forms[0].named == {"shape": "rectangle"}
    assert [field.key for field in section.forms[-1].fields] == ["start", "end"]
    assert "3x3" in field_of(robot, "payload", "inertia").help
