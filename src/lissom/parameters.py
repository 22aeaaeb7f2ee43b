"""Parameters of verbs: meaning, unit and range, declared here and nowhere else.

A verb is a public function whose signature uses these types, as in `locked: Locked = False`. Options of the command
line, requests of the studio, its forms and the reference page are derived from such signatures by `lissom.verbs`.
"""

from dataclasses import dataclass
from typing import Annotated, Any


@dataclass(frozen=True)
class Parameter:
    """Meaning, unit and range of a parameter; its type and default are in the signature.

    `kind` says how a text of the command line or a value of a request is read where the type alone does not: joint
    `positions`, `speeds`, `accelerations` and `forces` (one number for each joint, with or without a unit), `gains`,
    `names`, a `band` of frequencies, a `length`, a `frequency`, `places` on a link, `axes` and `metrics` of a study,
    `numbers by name`, `wrenches` on nodes, a `list` of texts, or `changes` of a description.
    """

    help: str
    unit: str = ""
    kind: str = ""
    name: str = ""  # of the option and in requests, where Python has another
    metavar: str = ""
    at_least: int | float | None = None
    at_most: str = ""  # the parameter that it does not exceed
    above: int | float | None = None
    choices: tuple[str, ...] = ()
    group: str = ""  # of fields on a form: the `point` of an analysis
    by_position: bool = False  # on the command line
    # A file, a folder, an address or a process of this machine: no browser chooses it.
    is_local: bool = False

    @property
    def is_closed(self) -> bool:
        """Whether a browser cannot set it: it is local, or a file that the request names as its source."""
        return self.is_local or self.by_position or self.kind == "result"


# --- the point that an analysis is about ---------------------------------------------------------------------------

# In Python a state from `model.static` is taken as well.
Pose = Annotated[
    Any,
    Parameter(
        "Joint coordinates in rad or m: 0,1.57 or '0,90 deg'. Default: those of the scenario, or zero.",
        unit="rad or m",
        kind="positions",
        group="point",
        name="q",
        metavar="Q1,Q2,...",
    ),
]
Speeds = Annotated[
    Any,
    Parameter(
        "Joint speeds in rad/s or m/s. Default: zero.",
        unit="rad/s or m/s",
        kind="speeds",
        group="point",
        metavar="V1,V2,...",
    ),
]
Accelerations = Annotated[
    Any,
    Parameter(
        "Joint accelerations in rad/s^2 or m/s^2. Default: zero.",
        unit="rad/s^2 or m/s^2",
        kind="accelerations",
        group="point",
        metavar="A1,A2,...",
    ),
]
JointTorques = Annotated[
    Any,
    Parameter(
        "Torques on free joints in N m (forces in N).",
        unit="N m or N",
        kind="forces",
        metavar="T1,T2,...",
    ),
]
NodeWrenches = Annotated[
    Any,
    Parameter(
        "Constant force and moment on a node in N and N m, world axes. May be repeated.",
        unit="N or N m",
        kind="wrenches",
        metavar="NODE=FX,FY,FZ,MX,MY,MZ",
    ),
]
ProportionalGains = Annotated[
    Any,
    Parameter(
        "Proportional gains of joint controllers in N m/rad or N/m: one number for all joints, or one for each.",
        unit="N m/rad or N/m",
        kind="gains",
        group="point",
        metavar="K1,K2,...",
    ),
]
DerivativeGains = Annotated[
    Any,
    Parameter(
        "Derivative gains of joint controllers in N m s/rad or N s/m: one number for all joints, or one for each.",
        unit="N m s/rad or N s/m",
        kind="gains",
        group="point",
        metavar="D1,D2,...",
    ),
]
Locked = Annotated[bool, Parameter("Hold every joint.", group="point")]
Undeformed = Annotated[
    bool, Parameter("Linearise about the undeformed robot instead of its equilibrium.")
]
Free = Annotated[
    bool,
    Parameter("Free joints: start at --q and find a stable equilibrium."),
]

Balanced = Annotated[
    bool, Parameter("Links in static equilibrium under gravity instead of undeformed.")
]
# Of verbs that read a state from the result that is their first argument on the command line.
RecordedTime = Annotated[
    float | None,
    Parameter(
        "With a result file: its state at this time [s].",
        unit="s",
        metavar="T",
    ),
]

# --- runs ----------------------------------------------------------------------------------------------------------

FirstRun = Annotated[
    str | None,
    Parameter(
        "Continue from the end of this run; --t-end is measured from its start.",
        metavar="NC",
        is_local=True,
    ),
]
Resume = Annotated[bool, Parameter("Resume an interrupted run from its checkpoint.")]
Recorded = Annotated[
    Any,
    Parameter(
        "A node, such as lower/tip, whose velocity and acceleration are saved too. May be repeated.",
        kind="list",
        metavar="NODE",
    ),
]
EndTime = Annotated[float | None, Parameter("End time in s.", unit="s")]
Method = Annotated[
    str | None,
    Parameter("auto, radau, generalised-alpha, dopri5, dopri8, tsit5."),
]

# --- results -------------------------------------------------------------------------------------------------------

ResultFile = Annotated[
    str,
    Parameter("Result of lissom simulate.", metavar="RUN.nc", by_position=True),
]
ResultFiles = Annotated[
    Any,
    Parameter(
        "Result files; the others are compared with the first.",
        kind="list",
        metavar="RUN.nc ...",
        by_position=True,
    ),
]
ComparedNode = Annotated[
    str | None,
    Parameter("Node whose path is plotted and compared, such as fore/tip."),
]
Quantities = Annotated[
    Any,
    Parameter(
        "Quantities, separated by commas: "
        "q,torque.upper,position.fore/tip,displacement.fore/tip,energy, and section forces: "
        "fore/element0.mz, fore/element*.mz. Default: the usual ones.",
        kind="names",
        metavar="LIST",
    ),
]

# --- the installation ----------------------------------------------------------------------------------------------

SelfTest = Annotated[
    bool, Parameter("Compute something with known answers too, ten seconds at most.")
]

# --- robots of other formats ---------------------------------------------------------------------------------------

RobotToImport = Annotated[
    Any,
    Parameter(
        "URDF file, or MJCF (.xml, read by Pinocchio).",
        metavar="ROBOT.urdf",
        by_position=True,
    ),
]
Tips = Annotated[
    Any,
    Parameter(
        "Last link of the chain, if the file has several ends. Repeat it for a robot with branches.",
        kind="list",
        metavar="LINK",
    ),
]
FlexibleLinks = Annotated[
    Any,
    Parameter(
        "A flexible link: arm_link=tube:100mm:90mm:aluminium; also circle, rectangle, box; or an "
        "estimate from its shape or inertia, arm_link=estimate:aluminium. May be repeated.",
        kind="list",
        metavar="LINK=SECTION",
    ),
]
BeamMass = Annotated[
    bool,
    Parameter("Flexible links have only the mass of their beam, not that of the URDF."),
]
Branches = Annotated[
    str,
    Parameter(
        "Links off the chain: weld them to the chain with locked joints, or drop them.",
        metavar="weld|drop",
    ),
]
HeldJoints = Annotated[
    Any,
    Parameter(
        "Lock a joint of the file at this value (rad or m). May be repeated.",
        unit="rad or m",
        kind="numbers by name",
        metavar="JOINT=VALUE",
    ),
]
MergeFixed = Annotated[
    bool, Parameter("Merge links on fixed joints into their parent.")
]
Meshes = Annotated[
    bool | None,
    Parameter(
        "Save the shapes for pictures next to the robot file; with --meshes a missing mesh is an error."
    ),
]

# --- scenarios and their controllers -------------------------------------------------------------------------------

Changes = Annotated[
    Any,
    Parameter(
        "Change a key of the scenario or the robot; may be repeated.",
        kind="changes",
        metavar="KEY=VALUE",
    ),
]
ScenarioWithController = Annotated[
    Any,
    Parameter(
        "Scenario file, or library name, with a controller.",
        metavar="SCENARIO",
        by_position=True,
    ),
]
LawFile = Annotated[
    Any, Parameter("Controller in a file of its own.", metavar="YAML", is_local=True)
]

ComparisonToRun = Annotated[
    Any,
    Parameter(
        "Study of the library, or file: one robot, one motion, many controllers.",
        metavar="STUDY",
        by_position=True,
    ),
]
ComparisonTable = Annotated[
    Any, Parameter("Table: .json, .csv.", metavar="FILE", is_local=True)
]
ComparisonPicture = Annotated[
    Any, Parameter("Figure: .png, .pdf, .svg.", metavar="PNG", is_local=True)
]
ResultFolder = Annotated[
    Any,
    Parameter(
        "Result file of every run, in a folder.", metavar="FOLDER", is_local=True
    ),
]

# --- studies -------------------------------------------------------------------------------------------------------

StudyToRun = Annotated[
    Any,
    Parameter(
        "Study file; with --over a scenario, robot or comparison of controllers; with --status the folder of a study.",
        metavar="STUDY",
        by_position=True,
    ),
]
StudyKeys = Annotated[
    Any,
    Parameter(
        "A key to vary: payload.mass=0:2:50, 'upper=0:90:7 deg', or a list payload.mass=[0,1,5]; may be repeated.",
        kind="axes",
        metavar="KEY=START:STOP:COUNT",
    ),
]
StudyMetrics = Annotated[
    Any,
    Parameter(
        "A metric to save, such as tip_deflection, or residual_vibration:after=0.5; may be repeated.",
        kind="metrics",
        metavar="NAME",
    ),
]
StudyAnalysis = Annotated[
    str,
    Parameter(
        "simulate, static, modes, linearize, or control (a comparison of controllers); with --over."
    ),
]
StudySampling = Annotated[
    str,
    Parameter(
        "Sampling: grid, zip, random, sobol, halton, latin-hypercube or saltelli; with --over."
    ),
]
SampleCount = Annotated[
    int | None, Parameter("Number of samples, for random sampling.")
]
Seed = Annotated[int, Parameter("Random seed.")]
StoreFolder = Annotated[
    Any,
    Parameter(
        "Folder for finished runs; default: STUDY.sweep next to the study.",
        metavar="DIR",
        is_local=True,
    ),
]
Workers = Annotated[
    int | None,
    Parameter("Number of processes; default: one per core.", at_least=1, is_local=True),
]
Cluster = Annotated[
    Any,
    Parameter(
        "Compute on a Dask cluster: the address of its scheduler, or local.",
        metavar="ADDRESS",
        is_local=True,
    ),
]
CertificateAuthority = Annotated[
    Any, Parameter("Certificate authority (tls://).", metavar="PEM", is_local=True)
]
OwnCertificate = Annotated[
    Any, Parameter("Own certificate (tls://).", metavar="PEM", is_local=True)
]
OwnKey = Annotated[
    Any, Parameter("Private key (tls://).", metavar="PEM", is_local=True)
]
StudyStatus = Annotated[
    bool,
    Parameter(
        "Only say how far the study is, also while it is computed.", is_local=True
    ),
]

# --- links from finite elements ------------------------------------------------------------------------------------

_PLACE = (
    "node number, face name, point x,y,z of a face, x,y,z,radius, or plane x=0.5; "
    "with @x,y,z the node sits elsewhere"
)
FeFile = Annotated[
    Any,
    Parameter(
        "Matrices: .npz .h5 .op4 .pch .mtx .sti .full; mesh or geometry: .msh .step .brep .iges, .geo.",
        metavar="FE_FILE",
        by_position=True,
    ),
]
Interfaces = Annotated[
    Any,
    Parameter(
        "Interface nodes: inner=1,tip=57, or faces by name.",
        kind="places",
        metavar="NAME=NODE,...",
    ),
]
InnerPlace = Annotated[
    Any, Parameter(f"The end at the joint: {_PLACE}.", metavar="PLACE")
]
TipPlace = Annotated[Any, Parameter("The other end, in the same way.", metavar="PLACE")]
KeptModes = Annotated[
    int | None, Parameter("Elastic modes kept; 18 by default.", at_least=0)
]
HighestFrequency = Annotated[
    float | None,
    Parameter(
        "Instead of --modes: keep every fixed-interface mode below this frequency.",
        unit="Hz",
        kind="frequency",
        metavar="HZ",
    ),
]
ReductionMethod = Annotated[
    Any, Parameter("craig-bampton, guyan, or free-interface (Rubin's).")
]
FaceCoupling = Annotated[
    Any,
    Parameter("Coupling of faces to their node: rigid (RBE2) or distributing (RBE3)."),
]
LinkMaterial = Annotated[Any, Parameter("Library material of a mesh or geometry.")]
MeshSize = Annotated[
    float | None,
    Parameter(
        "Edge length of the tetrahedra: '5 mm'.",
        unit="m",
        kind="length",
        metavar="LENGTH",
    ),
]
FileUnits = Annotated[
    str, Parameter("Units of the file: m-kg-s, mm-t-s, mm-kg-ms, ...")
]
NodeFile = Annotated[
    Any,
    Parameter(
        "Coordinates, for .op4 .mtx .full: .bdf .pch .inp .rst .cdb.",
        metavar="FILE",
        is_local=True,
    ),
]
MassFile = Annotated[
    Any, Parameter("Mass matrix, for .mtx.", metavar="FILE", is_local=True)
]
NodeOrder = Annotated[
    Any, Parameter("by-node or by-component, if the file has no dof numbers.")
]
Mirror = Annotated[
    bool,
    Parameter("The file has one triangle of the symmetric matrices: mirror it."),
]
ExpectedMass = Annotated[
    float | None, Parameter("Expected mass of the link.", unit="kg", metavar="KG")
]
DespiteFailures = Annotated[
    bool, Parameter("Reduce even if checks of the matrices fail.")
]
TrustScripts = Annotated[
    bool,
    Parameter(
        "Allow a .geo file: it is a gmsh script, which can run commands and write files.",
        is_local=True,
    ),
]

# --- what is computed -----------------------------------------------------------------------------------------------

Count = Annotated[int | None, Parameter("Number of modes, lowest first.", at_least=1)]
Damped = Annotated[
    bool, Parameter("Compute damped modes; this is the default if joints move.")
]
WeightStiffness = Annotated[
    bool,
    Parameter(
        "Include the second-order stiffness of carried weight, which first-order formulations leave out."
    ),
]
Inputs = Annotated[
    Any,
    Parameter(
        "upper.torque,lower/tip.fx,... Default: every joint torque.",
        kind="names",
        metavar="NAMES",
    ),
]
Outputs = Annotated[
    Any,
    Parameter(
        "upper.encoder,lower/tip.ax,upper.reaction.mz,... Default: encoders, speeds, tip position, acceleration.",
        kind="names",
        metavar="NAMES",
    ),
]
Duration = Annotated[
    float | None,
    Parameter(
        "Duration in s. Default: until the response has decayed.",
        unit="s",
        above=0.0,
        metavar="SECONDS",
    ),
]
Band = Annotated[
    Any,
    Parameter(
        "Frequencies in Hz. Default: around the vibrations of the robot.",
        unit="Hz",
        kind="band",
        metavar="LOW:HIGH[:POINTS]",
    ),
]
FollowedModes = Annotated[int, Parameter("Number of modes to track.", at_least=1)]
MapAxes = Annotated[
    Any,
    Parameter(
        "A joint (upper), a joint speed (upper.speed) or a key of the robot (payload.mass); may be repeated.",
        kind="map axes",
        metavar="NAME=START:STOP:POINTS",
    ),
]
Along = Annotated[
    str | None,
    Parameter(
        "Along the motion of a result file, instead of --over.",
        kind="result",
        metavar="NC",
    ),
]
AxesInDegrees = Annotated[
    bool, Parameter("Axes of revolute joints are in degrees.", kind="degrees")
]
Frozen = Annotated[
    bool,
    Parameter(
        "Moving joints: eigenvalues of the frozen-time system, changes of the coordinates included."
    ),
]
Order = Annotated[
    int | None,
    Parameter(
        "Modes as polynomials of this order over the range.",
        metavar="ORDER",
        at_least=0,
    ),
]
Accuracy = Annotated[
    float | None,
    Parameter(
        "Modes as polynomials, of the lowest order that meets this relative error of the frequencies.",
        metavar="REL",
        at_least=0.0,
    ),
]
AnimatedMode = Annotated[
    int,
    Parameter("Number of the mode to animate.", at_least=1, at_most="count"),
]
