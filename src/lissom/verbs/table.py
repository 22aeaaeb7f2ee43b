"""The verbs of the package, one row each."""

from ..parameters import AnimatedMode
from .verb import LINEAR_MODEL, NOTHING, PAGE, PICTURE, SOURCE, STATE, Output, Verb

NUMBERS = (".csv", ".npz")
MATRICES = (".npz", ".mat")
# Short for the browser: an answer is drawn while one waits.
CHANNELS = {"inputs": 40, "outputs": 40}

BY_CHANNEL = {
    "inputs": ("--inputs", "--input"),
    "outputs": ("--outputs", "--output"),
}

TABLE = (
    Verb(
        "robots",
        "describe.library:library",
        help="List the robots and scenarios of the library.",
        example="robots",
        reads=NOTHING,
        compiles=False,
    ),
    Verb(
        "show",
        "runs.robot_table:robot_table",
        help="Show a robot: a table of its links and, with -o, a picture with frames and nodes.",
        example="show anthropomorphic --q 0,30,-60 --deg -o robot.png",
        reads=SOURCE,
        writes=(
            Output(
                "picture",
                "plot",
                PICTURE,
                "Picture: .png, .pdf, .svg.",
                key="picture",
                metavar="PNG",
                options=("-o", "--output"),
            ),
        ),
        warns=False,
        compiles=False,
    ),
    Verb(
        "validate",
        "runs.validate:validate",
        help="Check a robot or scenario file and report every error at once; exit code 2 if there is one.\n\n"
        "A valid file is one that `simulate` starts with: the model is built in the formulation asked for. Warnings "
        "are printed; with --strict they give exit code 1.",
        example="validate robot.yaml --formulation nonlinear",
        reads=SOURCE,
        subject=("FILE", "Robot or scenario file (YAML or URDF), or library name."),
        compiles=False,
    ),
    Verb(
        "modes",
        "analyse.modes.modal:modes",
        help="Natural frequencies, damping ratios, and the share of each link and joint in each mode.",
        example="modes double-pendulum --q 0,1.57 --locked",
        writes=(
            Output(
                "plot",
                "plot",
                PICTURE,
                "Picture of the mode shapes.",
                key="picture",
                metavar="PNG",
            ),
            Output(
                "animate",
                "animate",
                PAGE,
                "The robot swinging in the mode --mode.",
                key="animation",
                metavar="HTML",
                parameters={"mode": (AnimatedMode, 1)},
            ),
        ),
        most={"count": 40, "mode": 40},
    ),
    Verb(
        "linearize",
        "analyse.linear.linearize:linearize",
        help="State-space model A, B, C, D with names about a point, at rest or moving.",
        example="linearize anthropomorphic --q 0,0.5,-1 -o m.npz",
        writes=(
            Output(
                "output",
                "save",
                MATRICES,
                "Matrices: .npz, .mat.",
                key="file",
                label="matrices",
                options=("-o", "--output"),
            ),
        ),
        most=CHANNELS,
    ),
    Verb(
        "static",
        "analyse.equilibrium:static",
        help="Elastic equilibrium under gravity with the joints held: holding torques and deflections.",
        example="static double-pendulum --q 0,1.57 --set gravity=[0,0,-9.81]",
    ),
    Verb(
        "matrices",
        "analyse.matrices:matrices",
        help="Inertia, Coriolis, stiffness, damping, Jacobians and force vectors at a state, with names and equation "
        "numbers.",
        example="matrices anthropomorphic --q 0,0.5,-1 --qd 1,0,0 -o m.npz",
        reads=STATE,
        writes=(
            Output(
                "output",
                "save",
                MATRICES,
                "Numbers: .npz, .mat.",
                key="file",
                label="numbers",
                options=("-o", "--output"),
            ),
        ),
        options={"balanced": ("--static",)},
    ),
    Verb(
        "frequency-response",
        "analyse.linear.frequency_response:frequency_responses",
        help="Frequency response of every output to every input, by name.",
        example="frequency-response double-pendulum --inputs upper --outputs lower/tip.ay --plot bode.png",
        reads=LINEAR_MODEL,
        writes=(
            Output(
                "plot",
                "plot",
                PICTURE,
                "Bode plot: .png, .pdf, .svg.",
                key="files.plot",
                metavar="PNG",
            ),
            Output(
                "data",
                "save",
                NUMBERS,
                "Numbers: .csv, .npz.",
                key="files.data",
                options=("-o",),
            ),
        ),
        required=("inputs", "outputs"),
        options=BY_CHANNEL,
        most=CHANNELS,
    ),
    Verb(
        "step-response",
        "analyse.linear.step_response:step_responses",
        help="Response of every output to a unit step of every input, by name.",
        example="step-response double-pendulum --inputs upper --outputs lower/tip.py --kp 500 --kd 20 --plot step.png",
        reads=LINEAR_MODEL,
        writes=(
            Output(
                "plot",
                "plot",
                PICTURE,
                "Figure: .png, .pdf, .svg.",
                key="files.plot",
                metavar="PNG",
            ),
            Output(
                "data",
                "save",
                NUMBERS,
                "Numbers: .csv, .npz.",
                key="files.data",
                options=("-o",),
            ),
        ),
        required=("inputs", "outputs"),
        options=BY_CHANNEL,
        most=CHANNELS | {"duration": 1e4},
    ),
    Verb(
        "doctor",
        "bench.doctor:doctor",
        help="Versions, cache of compiled code, devices, extras, and a self-test. Exit code 1 if something failed.",
        example="doctor",
        reads=NOTHING,
        options={"self_test": ("--self-test/--no-self-test",)},
        in_studio=False,
        compiles=False,
    ),
    Verb(
        "import",
        "describe.imported_robot:import_robot",
        help="A robot file of a URDF or MJCF file. Links made flexible keep their mass, centre and inertia.",
        example="import robot.urdf --tip tool0 --flexible upper_arm_link=tube:100mm:90mm:aluminium -o arm.yaml",
        reads=NOTHING,
        writes=(
            Output(
                "output",
                "save",
                (".yaml", ".yml"),
                "Robot file.",
                key="file",
                metavar="YAML",
                options=("-o", "--output"),
                label="robot",
            ),
        ),
        options={
            "merge_fixed": ("--merge-fixed/--keep-fixed",),
            "meshes": ("--meshes/--no-meshes",),
        },
        in_studio=False,
        compiles=False,
    ),
    Verb(
        "reduce",
        "bodies.fe.importing:reduce_link",
        help="Bring in a link from a finite-element program, a mesh or a geometry: check it, reduce it, report.",
        example="reduce job.sti --inner hub --tip flange -o link.npz --plot report.png",
        reads=NOTHING,
        writes=(
            Output(
                "report",
                "save_report",
                (".json",),
                "The report as JSON.",
                key="files.report",
                metavar="JSON",
            ),
            Output(
                "plot",
                "plot",
                PICTURE,
                "The report as one page: .png, .pdf, .svg.",
                key="files.plot",
                metavar="PNG",
            ),
            Output(
                "output",
                "save",
                (".npz",),
                "The reduced link.",
                key="files.link",
                metavar="NPZ",
                options=("-o", "--output"),
            ),
        ),
        in_studio=False,
        compiles=False,
        progress="stages",
        watch="progress",
    ),
)
