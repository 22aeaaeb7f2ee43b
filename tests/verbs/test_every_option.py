"""Every option of every verb is obeyed or refused: none is taken and forgotten.

For each parameter that a verb declares, `OBEYED` holds words that change the answer of a line, and `REFUSED` the modes
of the verb in which the option would change nothing. A parameter without a case fails the last test.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import lissom as ls
from lissom.commands import cli
from lissom.studies import sweep as studies
from lissom.verbs.declared import declared
from lissom.verbs.table import TABLE

ROBOT = "simple-pendulum"
MESH = Path(__file__).parents[1] / "data" / "fe" / "l-beam-coarse.npz"
FACES = "--inner inner --tip tip --modes 2"
NODES = "--inner 1 --tip 3 --modes 2"
MATRICES = f"reduce beam.npz {NODES}"
AXIS = "--over payload.mass=0:1:2 --locked --count 1"
SWEEP = (
    f"sweep {ROBOT} --analysis static --metric tip_deflection --store s.sweep --over "
)
LINEAR = f"{ROBOT} --inputs rod --outputs rod"
CARRIED = "double-pendulum --inputs upper --outputs lower/tip.ay --formulation erls-fem"
LAW = (
    "type: pid\nsample: 2 ms\ngains: {kp: [20], kd: [1]}\n"
    "reference: {t: [0, 0.2], value: [[-1.4], [-1.1]], interpolation: quintic}\n"
)
COMPARISON = {
    "scenario": {"robot": ROBOT, "initial": {"q": [-1.5]}},
    "motion": {"t": [0, 0.02], "value": [[-1.5], [-1.49]], "interpolation": "quintic"},
    "sample": 2e-3,
    "controllers": {"slow": {"type": "pid", "gains": {"bandwidth": 5.0}}},
}
STUDY = {
    "scenario": ROBOT,
    "analysis": "static",
    "over": {"payload.mass": [0.0, 0.1]},
    "metrics": ["tip_deflection"],
}
URDF = """<robot name="arm"><link name="base"/>
<link name="boom"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
<link name="mast"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="plate"><visual><origin xyz="0 0 0"/><geometry><mesh filename="no.stl"/></geometry></visual>
<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="turn" type="revolute"><parent link="boom"/><child link="mast"/><origin xyz="1 0 0"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="weld" type="fixed"><parent link="mast"/><child link="plate"/><origin xyz="1 0 0"/></joint>
<link name="side"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="off" type="revolute"><parent link="boom"/><child link="side"/><origin xyz="0 1 0"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
GEOMETRY = """SetFactory("OpenCASCADE"); Box(1) = {0, 0, 0, 0.1, 0.02, 0.02};
Physical Surface("inner") = {1}; Physical Surface("tip") = {2}; Physical Volume("part") = {1};
"""
RUN = f"simulate {ROBOT} --t-end 0.01"
TO_FILE = f"{RUN} -o out.nc"

# By verb and parameter: a line, and the words that change its answer.
OBEYED = {
    "show": {"q": (f"show {ROBOT}", "--q 0.3")},
    "modes": {
        "q": (f"modes {ROBOT}", "--q 0.3"),
        "locked": (f"modes {ROBOT}", "--locked"),
        "count": (f"modes {ROBOT}", "--count 2"),
        "damped": (f"modes {ROBOT}", "--damped"),
        "undeformed": (f"modes {ROBOT} --locked", "--undeformed"),
        "qd": (f"modes {ROBOT}", "--qd 1"),
        "qdd": (f"modes {ROBOT}", "--qdd 1"),
        "kp": (f"modes {ROBOT}", "--kp 300"),
        "kd": (f"modes {ROBOT}", "--kd 3"),
        "weight_stiffness": (
            f"modes {ROBOT} --formulation erls-fem",
            "--weight-stiffness",
        ),
        "mode": (f"modes {ROBOT} --animate out.html", "--mode 2"),
    },
    "linearize": {
        "q": (f"linearize {ROBOT}", "--q 0.3"),
        "qd": (f"linearize {ROBOT}", "--qd 1"),
        "qdd": (f"linearize {ROBOT}", "--qdd 1"),
        "inputs": (f"linearize {ROBOT}", "--inputs rod/tip.fx"),
        "outputs": (f"linearize {ROBOT}", "--outputs rod"),
        "kp": (f"linearize {ROBOT}", "--kp 300"),
        "kd": (f"linearize {ROBOT}", "--kd 3"),
        "locked": (f"linearize {ROBOT}", "--locked"),
        "weight_stiffness": (
            f"linearize {ROBOT} --formulation erls-fem -o out.npz",
            "--weight-stiffness",
        ),
    },
    "simulate": {
        "start": (RUN, "--start first.nc"),
        "resume": (TO_FILE, "--resume"),
        "record": (TO_FILE, "--record rod/tip"),
        "t_end": (f"simulate {ROBOT} --set t_end=0.01", "--t-end 0.02"),
        "method": (RUN, "--method dopri5"),
    },
    "compare": {
        "runs": ("compare first.nc second.nc", "third.nc"),
        "node": ("compare first.nc second.nc", "--node rod/1"),
    },
    "plot": {
        "run": ("plot -o out.csv", "first.nc", "second.nc"),
        "what": ("plot first.nc -o out.csv", "--what q"),
    },
    "static": {
        "q": (f"static {ROBOT}", "--q 0.3"),
        "free": (f"static {ROBOT} --q -1.5", "--free"),
        "torque": (f"static {ROBOT} --free --q -1.5", "--torque 1"),
        "wrench": (f"static {ROBOT}", "--wrench rod/tip=0,1,0,0,0,0"),
    },
    "matrices": {
        "q": (f"matrices {ROBOT}", "--q 0.3"),
        "qd": (f"matrices {ROBOT} -o out.npz", "--qd 1"),
        "balanced": (f"matrices {ROBOT} -o out.npz", "--static"),
        "time": ("matrices first.nc -o out.npz", "--time 0.01"),
    },
    "mode-map": {
        "q": (f"mode-map {ROBOT} {AXIS} -o out.npz", "--q 0.3"),
        "over": (
            f"mode-map {ROBOT} --count 1",
            "--over payload.mass=0:1:2",
            "--over payload.mass=0:2:2",
        ),
        "along": (
            f"mode-map {ROBOT} --count 1",
            "--along first.nc",
            "--along second.nc",
        ),
        "locked": (f"mode-map {ROBOT} --count 1 --over rod=0:1:2", "--locked"),
        "damped": (f"mode-map {ROBOT} {AXIS} -o out.npz", "--damped"),
        "frozen": (f"mode-map {ROBOT} --count 1 --over rod.speed=3:4:2", "--frozen"),
        "kp": (f"mode-map {ROBOT} --count 1 --over rod=0:1:2", "--kp 300"),
        "kd": (
            f"mode-map {ROBOT} --count 2 --damped --over rod=0:1:2 -o out.npz",
            "--kd 3",
        ),
        "count": (f"mode-map {ROBOT} --over payload.mass=0:1:2 --locked", "--count 1"),
        "polynomial": (
            f"mode-map {ROBOT} --over payload.mass=0:1:2 --locked --count 1",
            "--polynomial 2",
        ),
        "accuracy": (
            f"mode-map {ROBOT} --over payload.mass=0:1:2 --locked --count 1",
            "--accuracy 0.1",
        ),
        "degrees": (f"mode-map {ROBOT} --count 1 --over rod=0:1:2", "--deg"),
    },
    "frequency-response": {
        "q": (f"frequency-response {LINEAR}", "--q 0.3"),
        "qd": (f"frequency-response {LINEAR}", "--qd 1"),
        "qdd": (f"frequency-response {LINEAR}", "--qdd 1"),
        "inputs": (
            f"frequency-response {ROBOT} --outputs rod",
            "--inputs rod",
            "--inputs rod/tip.fx",
        ),
        "outputs": (
            f"frequency-response {ROBOT} --inputs rod",
            "--outputs rod",
            "--outputs rod/tip.ax",
        ),
        "kp": (f"frequency-response {LINEAR}", "--kp 300"),
        "kd": (f"frequency-response {LINEAR}", "--kd 3"),
        "locked": (
            f"frequency-response {ROBOT} --inputs rod/tip.fy --outputs rod/tip.ay",
            "--locked",
        ),
        "weight_stiffness": (
            f"frequency-response {CARRIED} -o out.csv",
            "--weight-stiffness",
        ),
        "band": (f"frequency-response {LINEAR}", "--band 1:10:3"),
    },
    "step-response": {
        "q": (f"step-response {LINEAR} --duration 0.1", "--q 0.3"),
        "qd": (f"step-response {LINEAR} --duration 0.1", "--qd 1"),
        "qdd": (f"step-response {LINEAR} --duration 0.1", "--qdd 1"),
        "inputs": (
            f"step-response {ROBOT} --outputs rod --duration 0.1",
            "--inputs rod",
            "--inputs rod/tip.fx",
        ),
        "outputs": (
            f"step-response {ROBOT} --inputs rod --duration 0.1",
            "--outputs rod",
            "--outputs rod/tip.ax",
        ),
        "kp": (f"step-response {LINEAR} --duration 0.1", "--kp 300"),
        "kd": (f"step-response {LINEAR} --duration 0.1", "--kd 3"),
        "locked": (
            f"step-response {ROBOT} --inputs rod/tip.fy --outputs rod/tip.ay --duration 0.1",
            "--locked",
        ),
        "weight_stiffness": (
            f"step-response {CARRIED} --duration 0.1 -o out.csv",
            "--weight-stiffness",
        ),
        "duration": (f"step-response {LINEAR} --duration 0.1", "--duration 0.2"),
    },
    "doctor": {"self_test": ("doctor --no-self-test", "--self-test")},
    "import": {
        "file": ("import --tip plate", "arm.urdf", "no.urdf"),
        "tip": ("import arm.urdf --tip plate", "--tip side"),
        "flexible": (
            "import arm.urdf --tip plate",
            "--flexible boom=circle:20mm:steel",
        ),
        "beam_mass": (
            "import arm.urdf --tip plate --flexible boom=circle:10mm:steel",
            "--beam-mass",
        ),
        "branches": ("import arm.urdf --tip plate -o out.yaml", "--branches drop"),
        "hold": ("import arm.urdf --tip plate", "--hold turn=0.1"),
        "merge_fixed": ("import arm.urdf --tip plate", "--merge-fixed"),
        "meshes": ("import arm.urdf --tip plate", "--meshes"),
    },
    "reduce": {
        "file": (f"reduce {NODES}", "beam.npz", "other.npz"),
        "interface": ("reduce beam.npz --modes 2 --inner 1", "--interface tip=3"),
        "inner": ("reduce beam.npz --modes 2 --tip 3", "--inner 1", "--inner 2"),
        "tip": ("reduce beam.npz --modes 2 --inner 1", "--tip 2", "--tip 3"),
        "modes": ("reduce beam.npz --inner 1 --tip 3 --modes 2", "--modes 3"),
        "frequency": ("reduce beam.npz --inner 1 --tip 3", "--frequency 500"),
        "method": (MATRICES, "--method free-interface"),
        "coupling": (
            f"reduce {MESH} {FACES} --material steel",
            "--coupling distributing",
        ),
        "material": (
            f"reduce {MESH} {FACES}",
            "--material steel",
            "--material aluminium",
        ),
        "mesh_size": (
            f"reduce part.geo {FACES} --material steel --trust-scripts",
            "--mesh-size 20mm",
        ),
        "units": (MATRICES, "--units mm-t-s"),
        "nodes": (
            f"reduce k.mtx {NODES} --nodes k.inp",
            "--nodes no.inp",
        ),
        "mass_file": (
            f"reduce k.mtx {NODES} --nodes k.inp",
            "--mass-file no.mtx",
        ),
        "dof_order": (f"reduce bare.npz {NODES}", "--dof-order by-component"),
        "mirror": (f"reduce half.npz {NODES}", "--mirror"),
        "mass": (MATRICES, "--mass 3"),
        "force": (f"reduce half.npz {NODES}", "--force"),
        "trust_scripts": (
            f"reduce part.geo {FACES} --material steel",
            "--trust-scripts",
        ),
    },
    "control design": {
        "scenario": ("control design --law law.yaml", ROBOT, "planar-2r"),
        "law": (f"control design {ROBOT} --law law.yaml", "--law other.yaml"),
        "changes": (
            f"control design {ROBOT} --law law.yaml",
            "--set controller.sample=1e-3",
        ),
    },
    "control run": {
        "law": (
            f"control run {ROBOT} --law law.yaml --set t_end=0.01",
            "--law other.yaml",
        ),
    },
    "control motion": {
        "scenario": ("control motion --law law.yaml", ROBOT, "planar-2r"),
        "law": (f"control motion {ROBOT} --law law.yaml", "--law other.yaml"),
        "changes": (
            f"control motion {ROBOT} --law law.yaml",
            "--set robot.payload.mass=1",
        ),
    },
    "control compare": {
        "study": ("control compare", "laws.yaml", "no.yaml"),
        "changes": ("control compare laws.yaml", "--set sample=1e-3"),
        "numbers": ("control compare laws.yaml", "-o out.csv"),
        "picture": ("control compare laws.yaml", "--plot out.png"),
        "results": ("control compare laws.yaml", "--results out"),
    },
    # What the workers of a study are asked for, see `asked_of_workers`.
    "sweep": {
        "study": ("sweep --store s.sweep", "study.yaml", "no.yaml"),
        "over": (f"{SWEEP} payload.mass=[0,0.1]", "--over gravity=[[0,0,-9.8]]"),
        "metrics": (f"{SWEEP} payload.mass=[0,0.1]", "--metric strain_energy"),
        "analysis": (f"{SWEEP} payload.mass=[0,0.1]", "--analysis linearize"),
        "sampling": (
            f"{SWEEP} payload.mass=[0,0.1] --over gravity=[[0,0,0],[0,0,-9]]",
            "--sampling zip",
        ),
        "samples": (
            f"{SWEEP} payload.mass=0:1 --sampling random --samples 3",
            "--samples 4",
        ),
        "seed": (
            f"{SWEEP} payload.mass=0:1 --sampling random --samples 3",
            "--seed 4",
        ),
        "changes": (f"{SWEEP} payload.mass=[0,0.1]", "--set gravity=[0,0,-9]"),
        "store": ("sweep study.yaml", "--store other.sweep"),
        "workers": ("sweep study.yaml", "--workers 3"),
        "cluster": ("sweep study.yaml", "--cluster tls://host:8786"),
        "tls_ca": ("sweep study.yaml --cluster tls://host:8786", "--tls-ca law.yaml"),
        "tls_cert": (
            "sweep study.yaml --cluster tls://host:8786",
            "--tls-cert law.yaml",
        ),
        "tls_key": ("sweep study.yaml --cluster tls://host:8786", "--tls-key law.yaml"),
        "status": ("sweep study.yaml", "--status"),
    },
}
GAINS = "held joints feel no controller"
POLYNOMIALS = (
    f"mode-map {ROBOT} --over payload.mass=0:1:2 --locked --count 1 --polynomial 2"
)
ALONG = f"mode-map {ROBOT} --along first.nc --count 1"
NO_FILE = "which is not written"
STATUS = "nothing is computed with --status"
STUDY_SAYS = "a study file has this as a key"

# A line whose last words would change nothing, and what is said of it; the option comes first in the message.
REFUSED = [
    (f"modes {ROBOT}", "--mode 2", NO_FILE),
    (f"modes {ROBOT} --plot out.png", "--mode 2", NO_FILE),
    (f"modes {ROBOT} --count 3 --animate out.html", "--mode 4", "must be at most 3"),
    (f"modes {ROBOT} --animate out.html", "--mode 11", "must be at most 10"),
    (f"modes {ROBOT} --locked", "--kp 300", GAINS),
    (f"modes {ROBOT} --locked --qd 1", "--kd 3", GAINS),
    (f"modes {ROBOT} --qd 1", "--undeformed", "not undeformed"),
    (f"modes {ROBOT}", "--deg", "no angle is given"),
    (
        f"modes {ROBOT} --formulation erls-fem --terms published",
        "--weight-stiffness",
        "consistent terms",
    ),
    (f"linearize {ROBOT} --locked", "--kp 300", GAINS),
    (f"step-response {LINEAR} --locked", "--kd 3", GAINS),
    (f"frequency-response {LINEAR} --locked", "--kp 300", GAINS),
    (f"static {ROBOT}", "--torque 1", "only free joints take torques"),
    (f"static {ROBOT} --free", "--wrench rod/tip=0,1,0,0,0,0", "leave --free out"),
    (f"static {ROBOT}", "--wrench rod/99=0,1,0,0,0,0", "no such node"),
    (f"matrices {ROBOT}", "--time 0.1", "only the result of a run"),
    ("matrices first.nc --time 0.01", "--q 0.1", "leave this out"),
    ("matrices first.nc --time 0.01", "--static", "leave this out"),
    (RUN, "--resume", "needs a result file"),
    ("plot first.nc --what q", "-o out.html", "must end in"),
    (POLYNOMIALS, "--kp 300", "leave this out"),
    (POLYNOMIALS, "--kd 3", "leave this out"),
    (POLYNOMIALS, "--frozen", "leave this out"),
    (POLYNOMIALS, "--damped", "leave this out"),
    (POLYNOMIALS, "--along first.nc", "leave this out"),
    (POLYNOMIALS, "--plot out.png", "is not written"),
    (POLYNOMIALS, "-o out.nc", "must end in .npz or .c or .py"),
    (f"mode-map {ROBOT} {AXIS}", "-o out.c", "must end in .nc or .npz"),
    (f"mode-map {ROBOT} {AXIS}", "--kp 300", GAINS),
    (f"mode-map {ROBOT} {AXIS}", "--frozen", "no joint moves here"),
    (ALONG, "--q 0.1", "as in the result"),
    (f"mode-map {ROBOT} {AXIS}", "--along first.nc", "say over what"),
    (
        "import arm.urdf --tip plate",
        "--beam-mass",
        "no link is made flexible",
    ),
    ("import arm.xml", "--branches drop", "is for URDF files"),
    ("import arm.xml", "--merge-fixed", "is for URDF files"),
    ("import arm.xml", "--meshes", "is for URDF files"),
    (MATRICES, "--material steel", "needs none"),
    (MATRICES, "--mesh-size 1mm", "needs none"),
    (MATRICES, "--nodes k.inp", "needs none"),
    (MATRICES, "--mass-file m.mtx", "needs none"),
    (MATRICES, "--coupling distributing", "no interface is a face"),
    (f"reduce k.mtx {NODES} --nodes k.inp", "--dof-order by-component", "needs none"),
    (f"reduce {MESH} {FACES} --material steel", "--mirror", "needs none"),
    (f"reduce {MESH} {FACES} --material steel", "--units mm-t-s", "needs none"),
    (f"reduce {MESH} {FACES} --material steel", "--mesh-size 1mm", "needs none"),
    (MATRICES, "--frequency 500", "not both"),
    (
        "reduce beam.npz --inner 1 --tip 3 --method guyan",
        "--frequency 500",
        "Guyan's reduction",
    ),
    ("sweep study.yaml", "--analysis modes", STUDY_SAYS),
    ("sweep study.yaml", "--sampling zip", STUDY_SAYS),
    ("sweep study.yaml", "--samples 3", STUDY_SAYS),
    ("sweep study.yaml", "--seed 4", STUDY_SAYS),
    ("sweep study.yaml", "--set gravity=[0,0,-9]", "write them there"),
    (f"{SWEEP} payload.mass=[0,0.1]", "--seed 4", "draws no random values"),
    (f"{SWEEP} payload.mass=[0,0.1]", "--samples 4", "grid"),
    ("sweep study.yaml", "--tls-ca law.yaml", "belongs to the address"),
    (
        "sweep study.yaml --cluster tcp://host:8786",
        "--workers 3",
        "already has its own workers",
    ),
    *(
        ("sweep s.sweep --status", words, STATUS)
        for words in (
            "--over payload.mass=[0,1]",
            "--metric tip_deflection",
            "--analysis modes",
            "--sampling zip",
            "--samples 3",
            "--seed 4",
            "--set gravity=[0,0,-9]",
            "--workers 3",
            "--cluster local",
            "--tls-key law.yaml",
        )
    ),
    ("sweep s.sweep --status", "-o out.nc", "is not written"),
    ("sweep s.sweep --status", "--plot out.png", "is not written"),
    ("sweep s.sweep --status", "--report out.html", "is not written"),
]
TIMES = re.compile(
    r'\s*"(run|[^"]*(wall|seconds|cache|hits|misses|compile|build|free_gb)[^"]*)":.*'
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files that the lines name."""
    folder = tmp_path_factory.mktemp("options")
    for name, q in {"first": -1.0, "second": -1.1, "third": -1.2}.items():
        ls.saved_run(
            ROBOT,
            changes={"initial.q": [q]},
            t_end=0.02,
            output=str(folder / f"{name}.nc"),
        )
    from lissom.bodies.link_body import body_of

    beam = body_of(ls.Robot.load(ROBOT), 0)
    K, M = np.asarray(beam.stiffness), np.asarray(beam.mass_matrix)
    arrays = {"K": K, "M": M, "nodes": beam.points}
    np.savez(folder / "beam.npz", **arrays)
    np.savez(folder / "bare.npz", **arrays)
    np.savez(folder / "other.npz", K=2 * K, M=M, nodes=beam.points)
    np.savez(folder / "half.npz", K=np.tril(K), M=np.tril(M), nodes=beam.points)
    for name in ("k.mtx", "m.mtx", "k.inp", "part.step"):
        (folder / name).write_text("")
    (folder / "part.geo").write_text(GEOMETRY)
    (folder / "arm.urdf").write_text(URDF)
    (folder / "arm.xml").write_text("<mujoco/>")
    (folder / "law.yaml").write_text(LAW)
    (folder / "other.yaml").write_text(LAW.replace("20", "30").replace("1.1", "1.2"))
    (folder / "laws.yaml").write_text(json.dumps(COMPARISON))
    (folder / "study.yaml").write_text(json.dumps(STUDY))
    return folder


@pytest.fixture
def answer(files, capsys, monkeypatch):
    """Exit code and words of a line, and what it wrote, without times."""
    monkeypatch.chdir(files)
    known: dict[str, tuple] = {}

    def run(*parts: str):
        line = " ".join(parts)
        if line not in known:
            before = set(files.iterdir())
            code = cli.main([*line.split(), "--json"])
            told = capsys.readouterr()
            written = {}
            for file in sorted(set(files.iterdir()) - before):
                written[file.name] = _content(file)
                _remove(file)
            known[line] = (code, TIMES.sub("", told.out), told.err, written)
        return known[line]

    return run


def _content(file):
    if file.suffix == ".npz":
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name].tobytes() for name in arrays.files}
    if file.suffix == ".nc":
        return sorted(map(str, ls.Run.load(file).data.data_vars))
    return file.is_dir() or file.read_bytes()


def _remove(file):
    if file.is_dir():
        shutil.rmtree(file)
    else:
        file.unlink()


class Asked(RuntimeError):
    """What the workers of a study would be asked to compute."""


@pytest.fixture
def asked_of_workers(monkeypatch):
    """A study ends where its workers would begin, and says what they were asked for."""

    def here(plan, numbers, workers):
        raise Asked(str(plan.record), workers)

    def there(cluster, plan, numbers, workers):
        raise Asked(str(plan.record), workers, cluster)

    monkeypatch.setattr(studies, "compute_locally", here)
    monkeypatch.setattr(studies, "compute_on_cluster", there)


CASES = [
    pytest.param(words, id=f"{verb} {name}")
    for verb, cases in OBEYED.items()
    for name, words in cases.items()
]


@pytest.mark.parametrize("words", CASES)
@pytest.mark.usefixtures("asked_of_workers")
def test_the_option_changes_the_answer(answer, words):
    line, *more = words
    with_it = f"{line} {more[-1]}"
    without = f"{line} {more[0]}" if len(more) == 2 else line
    assert answer(without) != answer(with_it)
    assert answer(without)[0] in (0, 1, 2)


@pytest.mark.parametrize("verb", OBEYED)
@pytest.mark.usefixtures("asked_of_workers")
def test_the_same_line_twice_has_the_same_answer(answer, verb):
    line = next(iter(OBEYED[verb].values()))
    once = " ".join(line[:2])
    # The same line in other words, so that it is not remembered.
    assert answer(once) == answer(once, "")


@pytest.mark.parametrize(
    ("line", "words", "message"), REFUSED, ids=lambda text: text[:40]
)
def test_an_option_that_would_change_nothing_is_refused(answer, line, words, message):
    code, _, _, written = answer(line, words)
    assert code == 2 and not written
    error = json.loads(answer(line, words)[1])["error"]
    (problem,) = error["errors"]
    assert message in problem["message"]
    # Between two options that exclude each other, either may be named.
    option = words.split()[0]
    assert problem["field"] == option or option.strip("-") in error["message"]


def test_every_parameter_has_a_case():
    for verb in TABLE:
        cases = OBEYED.get(verb.name, {})
        assert set(cases) == {one.name for one in declared(verb)}, verb.name
