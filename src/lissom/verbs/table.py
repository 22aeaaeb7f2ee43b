"""The verbs of the package, one row each."""

from typing import Any

from ..parameters import AnimatedMode
from .verb import LINEAR_MODEL, NOTHING, PAGE, PICTURE, SOURCE, STATE, Output, Verb

MATRICES = (".npz", ".mat")
SAVE = ("-o", "--output")
# Bounds for the browser, whose user waits for the drawing.
CHANNELS = {"inputs": 40, "outputs": 40}

BY_CHANNEL = {
    "inputs": ("--inputs", "--input"),
    "outputs": ("--outputs", "--output"),
}


def figure(text: str, **others: Any) -> Output:
    """A picture of the result."""
    facts: Any = {"method": "plot", "key": "files.plot", "metavar": "PNG"} | others
    return Output("plot", endings=PICTURE, help=text, **facts)


def data(endings: tuple[str, ...], text: str, **others: Any) -> Output:
    """The file that `-o` names."""
    facts: Any = {"method": "save", "key": "file", "options": SAVE} | others
    return Output("output", endings=endings, help=text, **facts)


def page(text: str, key: str, **others: Any) -> Output:
    """An animation in a page."""
    return Output("animate", endings=PAGE, help=text, key=key, metavar="HTML", **others)


COMPUTED: Any = {"status": ()}  # by a study; its status alone writes no file
NUMBERS = Output(
    "data",
    "save",
    (".csv", ".npz"),
    "Numbers: .csv, .npz.",
    key="files.data",
    options=("-o",),
)
# What a run writes itself, however it ends.
RUN_FILES = (
    data(
        (".nc", ".csv"),
        "Result file: .nc (NetCDF), or a table .csv.",
        method=None,
        key="files.result",
        metavar="NC",
    ),
    figure("Figure of the run: .png, .pdf, .svg.", method=None),
)

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
                options=SAVE,
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
        help="Natural frequencies, damping ratios, and the energy share of each link and joint in each mode.",
        example="modes double-pendulum --q 0,1.57 --locked",
        writes=(
            figure("Picture of the mode shapes.", key="picture"),
            page(
                "Animation of the mode that --mode names.",
                "animation",
                method="animate",
                parameters={"mode": (AnimatedMode, 1)},
            ),
        ),
        most={"count": 40, "mode": 40},
    ),
    Verb(
        "linearize",
        "analyse.linear.linearize:linearize",
        help="State-space model A, B, C, D about an operating point, at rest or moving, with named inputs and outputs.",
        example="linearize anthropomorphic --q 0,0.5,-1 -o m.npz",
        writes=(data(MATRICES, "Matrices: .npz, .mat.", label="matrices"),),
        most=CHANNELS,
    ),
    Verb(
        "simulate",
        "runs.saved_run:saved_run",
        help="Simulate a scenario. A robot without a scenario falls from rest for 1 s.",
        example="simulate double-pendulum --plot run.png --animate run.html -o run.nc,\n"
        "lissom simulate arm.yaml --set links.upper.beam.material.E=9e9 --t-end 0.5, lissom simulate run.nc",
        reads=SOURCE,
        subject=(
            "SCENARIO_OR_ROBOT",
            "Library name, scenario or robot file, or the .nc file of a run to repeat.",
        ),
        writes=(
            *RUN_FILES,
            page(
                "Animation: one HTML page for any browser.",
                "files.animation",
                method=None,
            ),
        ),
        limit_s=3600.0,
        keeps={"output": ".nc"},
        progress="run",
        watch="session",
    ),
    Verb(
        "compare",
        "runs.run_comparison:compare_runs",
        help="Compare runs: largest difference of every joint and tip, over their common time.",
        example="compare a.nc b.nc --plot difference.png",
        reads=NOTHING,
        writes=(figure("Picture: .png, .pdf, .svg.", key="picture", label="plot"),),
        compiles=False,
    ),
    Verb(
        "plot",
        "runs.plotted_run:plotted_run",
        help="Plot a run, or chosen quantities of it over time, as a picture, a table, or an animation.",
        example="plot run.nc --what q,position.lower/tip -o run.png",
        reads=NOTHING,
        writes=(
            Output(
                "picture",
                "save",
                (*PICTURE, *PAGE, ".csv"),
                ".png, .pdf or .svg; .html: animation; .csv: numbers.",
                key="picture",
                label="plot",
                options=SAVE,
                # A page that moves shows all.
                endings_with={"what": (*PICTURE, ".csv")},
            ),
        ),
        required=("picture",),
        compiles=False,
        most={"what": 40},
    ),
    Verb(
        "static",
        "analyse.equilibrium:static",
        help="Static equilibrium under gravity with the joints held: holding torques and deflections.",
        example="static double-pendulum --q 0,1.57 --set gravity=[0,0,-9.81]",
    ),
    Verb(
        "matrices",
        "analyse.matrices:matrices",
        help="Inertia, Coriolis, stiffness, damping, Jacobians and force vectors at a state, with names and equation "
        "numbers.",
        example="matrices anthropomorphic --q 0,0.5,-1 --qd 1,0,0 -o m.npz",
        reads=STATE,
        writes=(data(MATRICES, "Numbers: .npz, .mat.", label="numbers"),),
        options={"balanced": ("--static",)},
    ),
    Verb(
        "mode-map",
        "runs.mode_maps:map_modes",
        help="Modes over poses, speeds, payloads or other data, or along a run, tracked through crossings.",
        example="mode-map double-pendulum --over lower=-2.5:2.5:41 --locked --plot map.png",
        writes=(
            figure(
                "Picture: curves over one quantity, heat maps over two.",
                endings_with={"polynomial": (), "accuracy": ()},
            ),
            data(
                (".nc", ".npz"),
                "Data: .nc, .npz; polynomials: .npz, .c, .py.",
                key="files.data",
                endings_with=dict.fromkeys(
                    ("polynomial", "accuracy"), (".npz", ".c", ".py")
                ),
            ),
        ),
        options={"degrees": ("--deg",)},
        most={"count": 12, "over": 2, "over.points": 60, "polynomial": 12},
        limit_s=3600.0,
        progress="modes",
    ),
    Verb(
        "frequency-response",
        "analyse.linear.frequency_response:frequency_responses",
        help="Frequency response of every output to every input, by name.",
        example="frequency-response double-pendulum --inputs upper --outputs lower/tip.ay --plot bode.png",
        reads=LINEAR_MODEL,
        writes=(figure("Bode plot: .png, .pdf, .svg."), NUMBERS),
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
        writes=(figure("Figure: .png, .pdf, .svg."), NUMBERS),
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
        writes=(data((".yaml", ".yml"), "Robot file.", metavar="YAML", label="robot"),),
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
        help="Import a link from a finite-element program, a mesh or a geometry: check it, reduce it, report.",
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
            figure("The report as a picture: .png, .pdf, .svg."),
            data((".npz",), "The reduced link.", key="files.link", metavar="NPZ"),
        ),
        in_studio=False,
        compiles=False,
        progress="stages",
        watch="progress",
    ),
    Verb(
        "control design",
        "runs.controller_design:design_controller",
        help="Design a control law at the end of the motion: poles and margins of the sampled loop.",
        example="control design double-pendulum --law lqg.yaml -o law.npz",
        reads=NOTHING,
        writes=(
            data((".npz",), "Matrices of the law.", key="files.law", metavar="NPZ"),
            figure("Bode plot, sensitivity and poles.", key="files.picture"),
        ),
        options={"changes": ("--set",)},
        in_studio=False,
    ),
    Verb(
        "control run",
        "runs.saved_run:run_controller",
        help="Simulate a controller in closed loop on the full flexible robot, and write a result file.",
        example="control run double-pendulum --law lqg.yaml -o run.nc --plot run.png",
        reads=SOURCE,
        subject=("SCENARIO", "Scenario file, or library name, with a controller."),
        writes=RUN_FILES,
        limit_s=3600.0,
        in_studio=False,
        progress="run",
        watch="session",
    ),
    Verb(
        "control motion",
        "runs.planned_motion:plan_motion",
        help="The motion that a controller leads the robot along, shaper and feed-forward included; nothing is "
        "simulated.",
        example="control motion double-pendulum --law pid.yaml --plot motion.png",
        reads=NOTHING,
        writes=(
            data((".csv",), "Table of the motion.", key="files.table", metavar="CSV"),
            figure("Figure: .png, .pdf, .svg.", key="files.picture"),
        ),
        options={"changes": ("--set",)},
        in_studio=False,
    ),
    Verb(
        "control compare",
        "studies.controller_comparison:compare_controllers",
        help="Compare controllers on one motion of one robot: one table and one figure. Interrupted, it "
        "prints the rows that are done. Exit code 1 if a controller failed.",
        example="control compare double-pendulum --plot compare.png",
        reads=NOTHING,
        options={
            "changes": ("--set",),
            "numbers": SAVE,
            "picture": ("--plot",),
        },
        keeps={"picture": ".png", "results": ""},
        limit_s=3600.0,
        progress="controllers",
    ),
    Verb(
        "sweep",
        "studies.sweep:sweep",
        help="Run an analysis over many values of chosen keys: on all cores, with resume.",
        example="sweep double-pendulum --over payload.mass=0:2:50 --metric tip_deflection --store payloads.sweep",
        reads=NOTHING,
        writes=(
            data(
                (".nc",),
                "Copy of the dataset.",
                key="files.result",
                metavar="NC",
                endings_with=COMPUTED,
            ),
            figure("Figure of the study: .png, .pdf, .svg.", endings_with=COMPUTED),
            Output(
                "report",
                "report",
                PAGE,
                "Report in one page.",
                key="files.report",
                metavar="HTML",
                endings_with=COMPUTED,
            ),
        ),
        options={"metrics": ("--metric",), "changes": ("--set",)},
        most={"over": 6, "metrics": 12, "samples": 100_000},
        keeps={"plot": ".png", "store": ".sweep"},
        limit_s=3600.0,
        compiles=False,
        progress="runs",
    ),
)
