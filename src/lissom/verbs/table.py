"""The verbs of the package, one row each."""

from ..parameters import AnimatedMode
from .verb import LINEAR_MODEL, NOTHING, PAGE, PICTURE, Output, Verb

NUMBERS = (".csv", ".npz")
MATRICES = (".npz", ".mat")
# Short for the browser: an answer is drawn while one waits.
CHANNELS = {"inputs": 40, "outputs": 40}

TABLE = (
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
        options={
            "inputs": ("--inputs", "--input"),
            "outputs": ("--outputs", "--output"),
        },
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
)
