"""`linearize`, `frequency-response` and `mode-map`: linear models and modes over the workspace."""

from typing import Annotated

import typer

from ..compiled_code import keep_compiled_code
from .options import (
    Degrees,
    Formulation,
    Json,
    ModeCount,
    Q,
    Reference,
    RobotName,
    Settings,
    Terms,
    choices,
)
from .output import console, note, number, print_json, table
from .progress import share_progress

Qd = Annotated[
    str | None,
    typer.Option(
        "--qd", metavar="V1,V2,...", help="Joint speeds in rad/s or m/s. Default: zero."
    ),
]
Qdd = Annotated[
    str | None,
    typer.Option(
        "--qdd", metavar="A1,A2,...", help="Joint accelerations in rad/s^2 or m/s^2."
    ),
]
Kp = Annotated[
    str | None,
    typer.Option(
        "--kp",
        metavar="K1,K2,...",
        help="Stiffness of joint controllers in N m/rad or N/m.",
    ),
]
Kd = Annotated[
    str | None,
    typer.Option(
        "--kd",
        metavar="D1,D2,...",
        help="Damping of joint controllers in N m s/rad or N s/m.",
    ),
]
Locked = Annotated[bool, typer.Option("--locked", help="Hold every joint.")]
Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        metavar="NAMES",
        help="upper.torque,lower/tip.fx,... Default: every joint torque.",
    ),
]
Outputs = Annotated[
    str | None,
    typer.Option(
        "--outputs",
        metavar="NAMES",
        help="upper.encoder,lower/tip.ax,upper.reaction.mz,... Default: encoders, speeds, tip position, acceleration.",
    ),
]


def linearize(
    robot: RobotName,
    q: Q = None,
    qd: Qd = None,
    qdd: Qdd = None,
    deg: Degrees = False,
    inputs: Inputs = None,
    outputs: Outputs = None,
    kp: Kp = None,
    kd: Kd = None,
    locked: Locked = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Matrices: .npz, .mat."),
    ] = None,
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    json: Json = False,
) -> None:
    """State-space model A, B, C, D with names about a point, at rest or moving.

    Example: lissom linearize anthropomorphic --q 0,0.5,-1 -o m.npz
    """
    from ..services import service_linear

    code = keep_compiled_code()
    answer = service_linear.linearize(
        robot,
        q,
        choices(settings, formulation, modes, reference, terms),
        output=output,
        qd=qd,
        qdd=qdd,
        degrees=deg,
        inputs=inputs,
        outputs=outputs,
        kp=kp,
        kd=kd,
        locked=locked,
    )
    if json:
        return print_json(answer | {"cached": code.reused, "cache": code.report()})
    screen = console()
    point = answer["point"]
    rows = [
        (joint, *(point[key].get(joint) for key in ("q", "qd", "qdd", "torque")))
        for joint in point["q"]
    ]
    columns = ("joint", ">q", ">speed", ">acceleration", ">torque")
    screen.print(table(f"{answer['robot']}: linear model about", columns, rows))
    sizes = ", ".join(
        f"{key} {shape[0]} x {shape[1]}" for key, shape in answer["shapes"].items()
    )
    screen.print(f"{sizes}; {len(answer['states'])} states")
    screen.print(f"inputs:  {', '.join(answer['inputs']) or 'none'}")
    screen.print(f"outputs: {', '.join(answer['outputs']) or 'none'}")
    slow = [value for value in answer["eigenvalues"] if value["imag"] >= 0.0][:8]
    rows = [
        (
            f"{p['real']:.5g}",
            f"{p['imag']:.5g}",
            f"{abs(complex(p['real'], p['imag'])) / 6.283185307:.5g}",
        )
        for p in slow
    ]
    screen.print(
        table(
            "Slowest poles",
            (">real [1/s]", ">imaginary [rad/s]", ">|pole| / 2 pi [Hz]"),
            rows,
        )
    )
    if answer["unstable"]:
        screen.print(f"unstable: {answer['unstable']} poles in the right half plane")
    if output is not None:
        screen.print(f"matrices: {output}")
    note(str(code))


def frequency_response(
    robot: RobotName,
    inputs: Annotated[
        str,
        typer.Option(
            "--inputs", "--input", metavar="NAMES", help="upper.torque,lower/tip.fx,..."
        ),
    ],
    outputs: Annotated[
        str,
        typer.Option("--outputs", "--output", metavar="NAMES", help="lower/tip.ax,..."),
    ],
    q: Q = None,
    qd: Qd = None,
    qdd: Qdd = None,
    deg: Degrees = False,
    kp: Kp = None,
    kd: Kd = None,
    locked: Locked = False,
    band: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH[:POINTS]", help="Frequencies in Hz.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PNG", help="Bode plot: .png, .pdf, .svg.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Numbers: .csv, .npz.")
    ] = None,
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    json: Json = False,
) -> None:
    """Frequency response of every output to every input, by name.

    Example: lissom frequency-response double-pendulum --inputs upper --outputs lower/tip.ay --plot bode.png
    """
    from ..services import service_linear

    code = keep_compiled_code()
    answer = service_linear.frequency_response(
        robot,
        q,
        choices(settings, formulation, modes, reference, terms),
        band=band,
        picture=plot,
        output=data,
        qd=qd,
        qdd=qdd,
        degrees=deg,
        inputs=inputs,
        outputs=outputs,
        kp=kp,
        kd=kd,
        locked=locked,
    )
    if json:
        return print_json(answer | {"cached": code.reused, "cache": code.report()})
    screen = console()
    rows = [
        (
            one["input"],
            one["output"],
            ", ".join(f"{peak['frequency_hz']:.4g}" for peak in one["peaks"][:5]),
        )
        for one in answer["responses"]
    ]
    screen.print(
        table(
            f"{answer['robot']}: frequency response",
            ("input", "output", "peaks [Hz], highest first"),
            rows,
        )
    )
    for kind, path in answer["files"].items():
        screen.print(f"{kind}: {path}")
    note(str(code))


def mode_map(
    robot: RobotName,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=START:STOP:POINTS",
            help="A joint (upper), a joint speed (upper.speed) or a key of the robot (payload.mass); may be repeated.",
        ),
    ] = None,
    along: Annotated[
        str | None,
        typer.Option(metavar="NC", help="Along the motion of a result file instead."),
    ] = None,
    q: Q = None,
    deg: Degrees = False,
    locked: Locked = False,
    damped: Annotated[
        bool,
        typer.Option("--damped", help="Damped modes; always so where joints move."),
    ] = False,
    kp: Kp = None,
    kd: Kd = None,
    count: Annotated[
        int, typer.Option(min=1, help="Number of modes that are followed.")
    ] = 6,
    plot: Annotated[
        str | None,
        typer.Option(metavar="PNG", help="Curves over one, heat maps over two."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Data: .nc, .npz; polynomials: .npz, .c, .py.",
        ),
    ] = None,
    polynomial: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="ORDER",
            help="Modes as polynomials of this order over the range.",
        ),
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="REL",
            help="Polynomials whose frequencies are so accurate; order chosen.",
        ),
    ] = None,
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    json: Json = False,
) -> None:
    """Modes over poses, speeds, payloads or other data, or along a run, followed through crossings.

    Example: lissom mode-map double-pendulum --over lower=-2.5:2.5:41 --locked --plot map.png
    """
    from ..services import service_linear

    code = keep_compiled_code()
    if polynomial is not None or accuracy is not None:
        how = choices(settings, formulation, modes, reference, terms)
        return _mode_polynomials(
            robot,
            q,
            over or [],
            how,
            polynomial,
            accuracy,
            deg,
            locked,
            count,
            output,
            json,
        )
    with share_progress("modes") as watch:
        answer = service_linear.mode_map(
            robot,
            q,
            over or [],
            choices(settings, formulation, modes, reference, terms),
            along=along,
            degrees=deg,
            locked=locked,
            damped=damped,
            kp=kp,
            kd=kd,
            count=count,
            picture=plot,
            output=output,
            watch=watch,
        )
    if json:
        return print_json(answer | {"cached": code.reused, "cache": code.report()})
    screen = console()

    def place(at):
        return ", ".join(f"{name} {value:.4g}" for name, value in at.items())

    rows = [
        (row["mode"], number(row["lowest_hz"]), place(row["lowest_at"]), number(row["highest_hz"]),
         place(row["highest_at"]), row["unstable"], row["lost"])
        for row in answer["modes"]
    ]  # fmt: skip
    joints = "locked" if locked else "free"
    columns = (
        ">mode",
        ">lowest [Hz]",
        "at",
        ">highest [Hz]",
        "at",
        ">unstable points",
        ">not recognised",
    )
    screen.print(
        table(
            f"{answer['robot']}: {answer['points']} points, joints {joints}",
            columns,
            rows,
        )
    )
    for kind, path in answer["files"].items():
        screen.print(f"{kind}: {path}")
    note(str(code))


def _mode_polynomials(
    robot, q, over, how, polynomial, accuracy, deg, locked, count, output, json
) -> None:
    """Modes as polynomials of what `--over` names, instead of a grid."""
    from ..services.service_parametric import mode_polynomials

    answer = mode_polynomials(
        robot,
        q,
        over,
        how,
        order=polynomial,
        accuracy=accuracy,
        degrees=deg,
        locked=locked,
        count=count,
        output=output,
    )
    if json:
        return print_json(answer)
    rows = [(str(k + 1), number(f), number(z), text) for k, (f, z, text) in
            enumerate(zip(answer["frequency_hz"], answer["damping_ratio"], answer["text"], strict=True))]  # fmt: skip
    points = len(answer["expansion_points"])
    title = f"{answer['robot']}: order {answer['order']}, {answer['terms']} terms, {points} expansion point(s)"
    screen = console()
    screen.print(table(title, (">mode", ">frequency [Hz]", ">damping", "f ="), rows))
    screen.print(f"checked: {answer['checked']}")
    for kind, path in answer["files"].items():
        screen.print(f"{kind}: {path}")
