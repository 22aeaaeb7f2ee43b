"""Every guard fires, with the file, line, field, value and what is accepted."""

from copy import deepcopy

import pytest

from lissom.describe import DescriptionError, Robot, Scenario
from lissom.files.document import MAX_BYTES

ROBOT = {
    "lissom": 1,
    "name": "arm",
    "links": [
        {
            "name": "upper",
            "joint": {"type": "revolute", "dh": {"a": 0.5}},
            "beam": {
                "section": {"shape": "rectangle", "y": 0.03, "z": 0.01},
                "material": {"E": 2e11, "nu": 0.3, "density": 7840},
                "elements": 2,
            },
            "masses": [{"node": 1, "mass": 0.1}],
        },
        {
            "name": "lower",
            "joint": {
                "type": "revolute",
                "origin": {"xyz": [0.5, 0, 0]},
                "axis": [0, 0, 1],
            },
            "rigid": {
                "mass": 1.2,
                "com": [0.1, 0, 0],
                "inertia": [1e-3, 2e-3, 2e-3],
                "tip": [0.2, 0, 0],
            },
        },
        {
            "name": "flange",
            "joint": {"type": "fixed", "origin": {"xyz": [0.2, 0, 0]}},
            "rigid": {"mass": 0.2},
        },
    ],
}
TABLE = {"t": [0, 1], "value": [0, 2]}
ROWS = {"t": [0, 1], "value": [[0, 0], [1, 1]]}
SCENARIO = {
    "robot": ROBOT,
    "formulation": "erls-fem",
    "initial": {"q": [0, 0.1], "qd": [0, 0]},
    "inputs": {
        "torque": {"upper": TABLE},
        "wrench": [{"node": "lower/tip", "t": [0], "value": [[0, 0, 1, 0, 0, 0]]}],
    },
    "controller": {"type": "pd", "kp": [0, 1], "kd": [0, 1], "reference": ROWS},
    "reference": {"zeroed": ["upper/tip.rz", "lower/0.rz"]},
    "t_end": 1.0,
}
BEAM, UPPER, LOWER = "links.0.beam.", "links.0.", "links.1."
OTHER_BEAM = ROBOT["links"][0]["beam"]


def changed(data, path, value):
    data = deepcopy(data)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    here = data
    for step in steps:
        here = here[step] if isinstance(step, int) else here.setdefault(step, {})
    if value is KeyError:
        del here[last]
    else:
        here[last] = value
    return data


def problems(cls, data):
    with pytest.raises(DescriptionError) as caught:
        cls.from_dict(data)
    return [str(problem) for problem in caught.value.problems]


def test_the_unchanged_data_are_accepted():
    Robot.from_dict(ROBOT)
    Scenario.from_dict(SCENARIO)


ROBOT_CASES = [
    ("grvity", [0, 0, 1], "grvity: unknown key, did you mean 'gravity'?"),
    (
        BEAM + "elemnts",
        3,
        "links.upper.beam.elemnts: unknown key, did you mean 'elements'?",
    ),
    ("links", KeyError, "links: missing"),
    ("name", KeyError, "name: missing"),
    ("name", 3, "name: 3: must be text, not int"),
    ("links", [], "links: []: a robot has at least one link"),
    ("links", 3, "links: 3: must be a list, not int"),
    ("links", [3], "links.0: 3: must be a mapping with name, joint"),
    ("lissom", 2, "lissom: 2: this version reads files of schema version 1"),
    (
        "gravity",
        [0, 0],
        "gravity: [0, 0]: must be a list of 3 numbers [m/s^2], not 2 items",
    ),
    (
        "gravity",
        [0, 0, "fast"],
        "gravity: [0, 0, 'fast']: item 2 is fast: must be a number [m/s^2]",
    ),
    (
        BEAM + "material.E",
        "much",
        "material.E: much: must be a number [Pa], or a text with a unit",
    ),
    (
        BEAM + "material.E",
        True,
        "material.E: True: must be a number [Pa], not true/false",
    ),
    (BEAM + "material.E", None, "material.E: must be a number [Pa], not empty"),
    (
        BEAM + "material.E",
        float("nan"),
        "material.E: nan: must be a finite number [Pa]",
    ),
    (
        BEAM + "material.E",
        float("inf"),
        "material.E: inf: must be a finite number [Pa]",
    ),
    (BEAM + "material.E", 10**400, "must be a finite number [Pa]"),
    (BEAM + "material.E", 0, "material.E: 0: must be positive [Pa], steel has 2.1e11"),
    (
        BEAM + "material.E",
        -5,
        "links.upper.beam.material.E: -5: must be positive [Pa], steel has 2.1e11",
    ),
    (BEAM + "material.density", -1, "density: -1: must be positive [kg/m^3]"),
    (BEAM + "material.nu", 0.5, "nu: 0.5: must be above -1 and below 0.5"),
    (BEAM + "material.nu", -1, "nu: -1: must be above -1 and below 0.5"),
    (
        BEAM + "material",
        "stel",
        "material: stel: no such material, did you mean 'steel'?",
    ),
    (BEAM + "material.nu", KeyError, "links.upper.beam.material.nu: missing"),
    (BEAM + "section.y", 0, "section.y: 0: must be above 0 and below 1e+06 [m]"),
    (
        BEAM + "section.shape",
        "rectangel",
        "the shape 'rectangel' is not known, did you mean 'rectangle'?",
    ),
    (BEAM + "section", {"y": 1}, "must have a shape"),
    (BEAM + "section", 3, "section: 3: must have a shape"),
    (
        BEAM + "section",
        {"shape": "tube", "outer": 0.02, "inner": 0.02},
        "inner: 0.02: the inner diameter must be below",
    ),
    (
        BEAM + "section",
        {"shape": "box", "y": 0.02, "z": 0.04, "wall": 0.01},
        "wall: 0.01: the wall must be thinner than",
    ),
    (
        BEAM + "section",
        {
            "start": {"shape": "circle", "diameter": 1},
            "end": {"shape": "tube", "outer": 2, "inner": 1},
        },
        "section.end: tube: must have the shape of the start, circle",
    ),
    (
        BEAM + "section",
        {"start": {"shape": "circle", "diameter": 1}},
        "section.end: missing",
    ),
    (BEAM + "elements", 0, "elements: 0: must be a whole number from 1 to 1000"),
    (BEAM + "elements", 1001, "elements: 1001: must be a whole number from 1 to 1000"),
    (
        BEAM + "elements",
        2.5,
        "elements: 2.5: must be a whole number from 1 to 1000, not float",
    ),
    (
        BEAM + "theory",
        "timoshenk",
        "must be one of euler-bernoulli, timoshenko, did you mean 'timoshenko'?",
    ),
    (BEAM + "path", [[0, 0, 0]], "a path has at least two points"),
    (
        BEAM + "path",
        [[0.1, 0, 0], [0.5, 0, 0]],
        "the first point of a path is the joint",
    ),
    (
        BEAM + "path",
        [[0, 0, 0], [0.5, 0, 0], [0.5, 0, 0]],
        "points 1 and 2 of the path coincide",
    ),
    (BEAM + "up", [1, 0, 0], "the section's z axis must not lie along the beam"),
    (BEAM + "up", [0, 0, 0], "up: [0, 0, 0]: must not be zero in every component"),
    (
        UPPER + "joint.type",
        "hinge",
        "joint.type: hinge: must be one of revolute, prismatic, fixed",
    ),
    (UPPER + "joint.axis", [0, 0, 1], "a joint with dh moves about its z axis"),
    (
        UPPER + "joint.origin",
        {"xyz": [0, 0, 0]},
        "has either dh or origin, not both",
    ),
    (
        UPPER + "joint.limits",
        {"position": [1, -1]},
        "the lower limit must be below the upper one",
    ),
    (
        UPPER + "joint.motor",
        {"inertia": -1},
        "motor.inertia: -1: must be zero or positive [kg m^2]",
    ),
    (UPPER + "joint.friction", {"width": 0}, "friction.width: 0: must be positive"),
    (
        LOWER + "joint.axis",
        [0, 0, 0],
        "links.lower.joint.axis: [0, 0, 0]: must not be zero in every component",
    ),
    (
        LOWER + "joint.origin.xyz",
        [0.4, 0, 0],
        "links.lower.joint.origin.xyz: [0.4, 0.0, 0.0]: lies off the tip [0.5, 0, 0] of the parent link 'upper'",
    ),
    (
        LOWER + "beam",
        OTHER_BEAM,
        "a link has exactly one body, this one has beam and rigid",
    ),
    (LOWER + "rigid", KeyError, "links.lower: a link needs a body"),
    (LOWER + "name", "upper", "links.upper.name: upper: link 1 already has this name"),
    (LOWER + "name", "a/b", "a name may have only letters, digits, _ and -"),
    (LOWER + "rigid.mass", -1, "rigid.mass: -1: must be zero or positive [kg]"),
    (
        LOWER + "rigid.inertia",
        [1, 2],
        "3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or a symmetric 3x3",
    ),
    (LOWER + "rigid.inertia", [1, 1, 1, 5, 0, 0], "must be positive semidefinite"),
    (LOWER + "rigid.inertia", [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "must be symmetric"),
    (
        UPPER + "masses.0.node",
        3,
        "links.upper.masses.0.node: 3: link 'upper' has nodes 0 to 2",
    ),
    (
        UPPER + "masses.0.node",
        "tp",
        'must be a node number, counted from 0 at the joint, or "tip"',
    ),
    (
        "links.2.joint.motor",
        {"inertia": 1},
        "a fixed joint does not move: it has no motor",
    ),
    (
        "damping",
        {"alpha": 1, "ratio": 0.1},
        "damping is {alpha, beta} or {ratio}, not both",
    ),
    ("damping", {"ratio": 1}, "ratio: 1: must be at least 0 and below 1"),
    ("planar", "perhaps", "planar: perhaps: must be true or false"),
    ("loops", [{"link": "lower"}], "loops.0.at: missing"),
    (
        "loops",
        [{"link": "lowr", "at": [1, 0, 0]}],
        "loops.0.link: lowr: no link is called 'lowr', did you mean 'lower'?",
    ),
    (
        "loops",
        [{"link": "lower", "to": "sky", "at": [1, 0, 0]}],
        "loops.0.to: sky: no link is called 'sky'. Links: upper",
    ),
    (
        "loops",
        [{"link": "lower", "to": "lower", "at": [1, 0, 0]}],
        "a link cannot close a loop with itself",
    ),
    (
        "loops",
        [{"link": "flange", "to": "upper", "at": [0.1, 0, 0]}],
        "lies on no node of link 'upper': upper/0 at [0, 0",
    ),
    (
        "loops",
        [{"link": "flange", "at": [1, 0, 0], "type": "ball"}],
        "must be one of revolute, prismatic, fixed",
    ),
    (
        "independent",
        ["upper"],
        "independent: belongs to a closed chain: this robot has no loops",
    ),
    (
        LOWER + "parent",
        "flange",
        "links.lower.parent: flange: must be a link listed before this one: ground, upper",
    ),
    ("payload", {"mass": -1}, "payload.mass: -1: must be zero or positive [kg]"),
]


@pytest.mark.parametrize("path, value, message", ROBOT_CASES)
def test_a_bad_robot_is_refused_with_one_clear_message(path, value, message):
    found = problems(Robot, changed(ROBOT, path, value))
    assert len(found) == 1, found
    assert message in found[0]


CONSEQUENCES = [  # these upset what follows in the chain too
    (
        BEAM + "path",
        [[0, 0, 0], [0.4, 0, 0]],
        "ends off the end [0.5, 0, 0] of its DH link",
    ),
    (UPPER + "joint.dh.a", 0, "links.upper.beam: the beam has no length"),
    (LOWER + "fe", {"file": "x.npz"}, "fe.file: x.npz: no such file"),
]


@pytest.mark.parametrize("path, value, message", CONSEQUENCES)
def test_a_bad_link_is_refused_first_and_then_what_it_upsets(path, value, message):
    found = problems(Robot, changed(ROBOT, path, value))
    assert len(found) > 1
    assert message in found[0]


SCENARIO_CASES = [
    ("t_end", 0, "t_end: 0: must be positive [s]"),
    ("t_end", -1, "t_end: -1: must be positive [s]"),
    ("output_dt", 0, "output_dt: 0: must be positive [s]"),
    ("output_dt", 2, "output_dt: 2.0: must not be longer than the run (t_end 1 s)"),
    ("output_dt", 1e-9, "gives 1e+09 samples over 1 s: at most 1000000"),
    ("robot", KeyError, "robot: missing"),
    ("robot", "duble-pendulum", "Library: double-pendulum"),
    (
        "formulation",
        "erls-fm",
        "formulation: erls-fm: must be one of erls-fem, erls-cms",
    ),
    ("terms", "all", "terms: all: must be one of consistent, published"),
    (
        "initial.q",
        [0],
        "initial.q: [0.0]: must have one number for each moving joint: 2 (upper, lower)",
    ),
    (
        "initial.qd",
        [0, 0, 0],
        "initial.qd: [0.0, 0.0, 0.0]: must have one number for each moving joint: 2",
    ),
    ("initial.elastic", "statc", "must be one of zero, static, did you mean 'static'?"),
    (
        "inputs.torque",
        {"uper": TABLE},
        "inputs.torque.uper: no joint is called 'uper', did you mean 'upper'?",
    ),
    (
        "inputs.torque",
        {"flange": TABLE},
        "inputs.torque.flange: the joint of link 'flange' is fixed",
    ),
    (
        "inputs.torque",
        {"upper": {"t": [0, 1, 0.5], "value": [0, 0, 0]}},
        "times must not decrease",
    ),
    (
        "inputs.torque",
        {"upper": {"t": [0, 1], "value": [0, 0, 0]}},
        "3 values: a table has one value per time, here 2",
    ),
    (
        "inputs.torque",
        {"upper": {"t": [-1, 1], "value": [0, 0]}},
        "item 0 is -1: must be zero or positive [s]",
    ),
    (
        "inputs.torque.upper.t",
        [],
        "inputs.torque.upper.t: []: must be a list of numbers [s], not 0 items",
    ),
    (
        "inputs.torque",
        {"upper": {**TABLE, "interpolation": "cubic"}},
        "must be one of linear, hold",
    ),
    (
        "inputs",
        {"motion": {"upper": {"t": [0, 1, 1], "value": [0, 1, 2]}}},
        "times must increase: items 1 and 2",
    ),
    (
        "inputs",
        {"motion": {"lowr": TABLE}},
        "inputs.motion.lowr: no joint is called 'lowr', did you mean 'lower'?",
    ),
    (
        "inputs",
        {"motion": {"upper": TABLE}, "torque": {"upper": TABLE}},
        "this joint has a torque table too",
    ),
    (
        "inputs",
        {"motion": {"lower": TABLE}},
        "inputs.motion.lower: a controller drives this joint too",
    ),
    (
        "inputs.wrench.0.node",
        "lowr/tip",
        "no link is called 'lowr', did you mean 'lower'?",
    ),
    (
        "inputs.wrench.0.node",
        "upper/3",
        "no such node: those of link 'upper' are numbered from the joint, 0 to 2",
    ),
    ("inputs.wrench.0.node", "tip", "must be a node: link/number or link/tip"),
    (
        "inputs.wrench.0.value",
        [[0, 0, 1]],
        "must be a list of rows, each a list of 6 numbers",
    ),
    ("inputs.wrench.0.frame", "tool", "must be one of world, link"),
    (
        "controller.kp",
        [1],
        "controller.kp: [1.0]: must have one number for each moving joint: 2 (upper, lower)",
    ),
    (
        "controller.kd",
        [1, 2, 3],
        "controller.kd: [1.0, 2.0, 3.0]: must have one number for each moving joint",
    ),
    ("controller.kp", [-1, 0], "item 0 is -1: must be zero or positive"),
    ("controller.type", "pidd", "must be one of pd"),
    ("controller.sample", 0, "controller.sample: 0: must be positive [s]"),
    ("controller.sample", "1 mm", "controller.sample: 1 mm: must be a number [s]"),
    (
        "controller.sample",
        "1100 ms",
        "controller.sample: 1.1: must not be longer than the run (t_end 1 s)",
    ),
    (
        "controller.reference",
        {"t": [0], "value": [[0]]},
        "each row must have one number for each moving joint: 2",
    ),
    (
        "controller.reference",
        {"t": [1, 0], "value": [[0, 0], [0, 0]]},
        "times must not decrease",
    ),
    ("reference", "tangnt", "must be tangent, minimum-norm or {zeroed"),
    (
        "basis",
        "nodl",
        "basis: nodl: must be one of assumed, craig-bampton, nodal, did you mean 'nodal'?",
    ),
    (
        "reference",
        {"zeroed": "upper/tip.rz"},
        "zeroed must be a list such as [upper/tip.rz], not text",
    ),
    (
        "reference.zeroed",
        ["upper/tip.rz"],
        "one zeroed dof for each moving joint: 2 (upper, lower), not 1",
    ),
    (
        "reference.zeroed",
        ["upper/tip.rz", "lower.rz"],
        "zeroed.1: lower.rz: must be a node: link/number or link/tip",
    ),
    (
        "reference.zeroed",
        ["upper/tip.rz", "lower/0.u"],
        "component x, y, z, rx, ry or rz",
    ),
    (
        "reference.zeroed",
        ["upper/9.rz", "lower/0.rz"],
        "no such node: those of link 'upper'",
    ),
    (
        "reference.zeroed",
        ["uper/tip.rz", "lower/0.rz"],
        "no link is called 'uper', did you mean 'upper'?",
    ),
    ("reference.zeroed", ["upper/tip.rz", "upper/tip.rz"], "is listed twice"),
    ("modes", -1, "modes: -1: must be a whole number"),
    ("modes", [1, 2], "must have one number for each of the 3 links"),
    ("solver", {"rtol": 0}, "solver.rtol: 0: must be above 0 and below 1"),
    ("solver", {"method": "rk4"}, "solver.method: rk4: must be one of auto, radau"),
    ("solver", {"max_steps": 0}, "max_steps: 0: must be a whole number from 1"),
]


@pytest.mark.parametrize("path, value, message", SCENARIO_CASES)
def test_a_bad_scenario_is_refused_with_one_clear_message(path, value, message):
    found = problems(Scenario, changed(SCENARIO, path, value))
    assert len(found) == 1, found
    assert message in found[0]


def test_a_jump_is_two_equal_times_in_a_torque_table():
    table = {"t": [0, 0.5, 0.5, 1], "value": [1, 1, -1, -1]}
    scenario = Scenario.from_dict(changed(SCENARIO, "inputs.torque.upper", table))
    assert scenario.inputs.torque["upper"].t == (0.0, 0.5, 0.5, 1.0)


def test_a_joint_with_zero_gains_may_follow_a_motion():
    data = changed(
        SCENARIO, "inputs", {"motion": {"upper": {"t": [0, 1], "value": [0, 2]}}}
    )
    assert Scenario.from_dict(data).inputs.motion["upper"].value == (0.0, 2.0)


def test_a_sample_period_may_be_written_with_a_unit_and_left_out():
    data = changed(SCENARIO, "controller.sample", "1 ms")
    sampled = Scenario.from_dict(data).controller
    assert sampled is not None and sampled.sample == pytest.approx(1e-3)
    for continuous in (SCENARIO, changed(SCENARIO, "controller.sample", None)):
        law = Scenario.from_dict(continuous).controller
        assert law is not None and law.sample is None


BAD_FILE = """\
robot:
  name: arm
  links:
    - name: upper
      joint: {type: revolute, dh: {a: 0.5}}
      beam:
        section: {shape: circle, diameter: 20 mm}
        material: {E: -5, nu: 0.3, density: 7840}
        elments: 3
    - name: upper
      joint:
        type: revolute
        origin:
          xyz: [0.4, 0, 0]
      rigid: {mass: .nan, tip: [0.1, 0, 0]}
inputs:
  torque:
    lower: {t: [0, 1], value: [1, 1]}
reference: {zeroed: [upper/tip.q]}
t_end: 0
formulation: erls-fem
"""


def test_all_errors_of_a_file_come_at_once_with_their_lines(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(BAD_FILE)
    with pytest.raises(DescriptionError) as caught:
        Scenario.load(path)
    found = [(p.line, p.field) for p in caught.value.problems]
    assert found == [
        (8, "robot.links.upper.beam.material.E"),
        (9, "robot.links.upper.beam.elments"),
        (10, "robot.links.upper.name"),
        (14, "robot.links.upper.joint.origin.xyz"),
        (15, "robot.links.upper.rigid.mass"),
        (18, "inputs.torque.lower"),
        (19, "reference.zeroed.0"),
        (19, "reference.zeroed"),
        (20, "t_end"),
    ]
    lines = str(caught.value).splitlines()
    assert (
        lines[0]
        == f"{path}:8: robot.links.upper.beam.material.E: -5: must be positive [Pa], steel has 2.1e11"
    )
    assert len(lines) == len(found)


def test_a_scenario_reports_the_errors_of_the_robot_file_it_names_with_that_files_lines(
    tmp_path,
):
    (tmp_path / "arm.yaml").write_text("lissom: 1\nname: arm\nlinks: []\nextra: 1\n")
    (tmp_path / "run.yaml").write_text("robot: arm.yaml\nt_end: -1\n")
    with pytest.raises(DescriptionError) as caught:
        Scenario.load(tmp_path / "run.yaml")
    found = [
        (p.file.rsplit("/", 1)[-1], p.line, p.field) for p in caught.value.problems
    ]
    assert found == [
        ("arm.yaml", 3, "links"),
        ("arm.yaml", 4, "extra"),
        ("run.yaml", 2, "t_end"),
    ]


def test_a_scenario_with_a_missing_robot_file_names_the_line(tmp_path):
    (tmp_path / "run.yaml").write_text("t_end: 1\nrobot: simple-pendulm\n")
    with pytest.raises(
        DescriptionError,
        match=r"run.yaml:2: robot: simple-pendulm: no such file.*simple-pendulum",
    ):
        Scenario.load(tmp_path / "run.yaml")


BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
FILE_CASES = [
    ("name: [1, 2\nlinks: 3\n", r"bad.yaml:\d: column \d+: broken YAML"),
    ("name: 'x\n", r"broken YAML"),
    ("name: a\nname: b\n", r"bad.yaml:2: the key 'name' is given twice"),
    ("name: &x [1, *x]\n", r"bad.yaml:1: \*x refers to itself: the file is recursive"),
    ("name: *nobody\n", r"the alias \*nobody has no anchor"),
    ("links: &l\n  - name: a\n    rigid: *l\n", r"bad.yaml:3: \*l refers to itself"),
    (BOMB, r"holds more than 500000 entries"),
    ("[" * 100 + "]" * 100, r"nested more than 32 levels deep"),
    # Long enough to be taken for a table of numbers.
    ("a: " + "[" * 600 + "1" + "]" * 600, r"nested more than 32 levels deep"),
    ("a: " * 1 + "{b: " * 5000 + "1" + "}" * 5000, r"nested more than 32 levels deep"),
    ("name: !!python/object:os.system x\n", r"the tag .* is not accepted"),
    ("name: a\n---\nname: b\n", r"holds more than one document"),
    ("? [1, 2]\n: 3\n", r"a key must be plain text"),
    ("", r"bad.yaml: must be a mapping with lissom, name, .*not empty"),
    ("- 1\n- 2\n", r"must be a mapping with lissom, name, .*not a list"),
    ("just text\n", r"must be a mapping with lissom, name"),
    ("name: \x07\n", r"broken YAML"),
]


@pytest.mark.parametrize("text, message", FILE_CASES, ids=range(len(FILE_CASES)))
def test_a_file_that_is_no_description_is_refused(tmp_path, text, message):
    (tmp_path / "bad.yaml").write_text(text)
    for cls in (Robot, Scenario):
        with pytest.raises(DescriptionError, match=message):
            cls.load(tmp_path / "bad.yaml")


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    (tmp_path / "bad.yaml").write_text("#" * (MAX_BYTES + 1))
    with pytest.raises(DescriptionError, match="larger than 4 MB"):
        Robot.load(tmp_path / "bad.yaml")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "bad.yaml").write_bytes(b"name: \xff\xfe\x00")
    with pytest.raises(DescriptionError, match="is not UTF-8 text"):
        Robot.load(tmp_path / "bad.yaml")


def test_a_missing_file_names_the_nearest_of_the_library():
    with pytest.raises(
        DescriptionError,
        match="duble-pendulum: no such file, .* Library: double-pendulum",
    ):
        Robot.load("duble-pendulum")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(DescriptionError, match="is a folder, not a file"):
        Robot.load(tmp_path)
