"""`simulate`: motion in time."""

from typing import Annotated, Any

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from .interrupt import stopping_between_steps
from .options import Formulation, Json, ModeCount, Reference, Settings, Terms, choices
from .output import console, note, number, print_json, table, vector
from .progress import progress

Source = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO_OR_ROBOT",
        help="Library name, scenario or robot file, or the .nc file of a run to do again.",
    ),
]


def simulate(
    source: Source,
    settings: Settings = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="NC", help="Result file, NetCDF."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="PNG", help="Figure of the run: .png, .pdf, .svg."),
    ] = None,
    animate: Annotated[
        str | None,
        typer.Option(metavar="HTML", help="Animation, one page that opens anywhere."),
    ] = None,
    t_end: Annotated[float | None, typer.Option(help="Duration in s.")] = None,
    method: Annotated[
        str | None,
        typer.Option(help="auto, radau, generalised-alpha, dopri5, dopri8, tsit5."),
    ] = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    json: Json = False,
) -> None:
    """Simulate a scenario in time. A bare robot falls from rest for 1 s.

    Examples: lissom simulate double-pendulum --plot run.png --animate run.html -o run.nc,
    lissom simulate arm.yaml --set links.upper.beam.material.E=9e9 --t-end 0.5, lissom simulate run.nc
    """
    from ..services import service

    code = keep_compiled_code()
    plan = service.plan_simulation(
        source,
        choices(settings, formulation, modes, reference, terms),
        t_end=t_end,
        method=method,
        result=output,
        picture=plot,
        page=animate,
    )
    screen = console()
    if not json:
        for remark in plan.notes:
            screen.print(remark)
    with progress(plan.scenario.t_end) as bar, stopping_between_steps(bar) as watch:
        answer = service.simulate(plan, watch)
    if json:
        return print_json(answer | {"cached": code.reused, "cache": code.report()})
    _print(screen, answer)
    note(str(code))


def _print(screen: Console, answer: dict[str, Any]) -> None:
    end = f"{answer['robot']} at {answer['t_end']:g} s"
    rows = [
        (j, answer["q"][j], answer["qd"][j], answer["encoder"][j], answer["torque"][j])
        for j in answer["q"]
    ]
    columns = (
        "joint",
        ">q [rad or m]",
        ">qd [rad/s or m/s]",
        ">encoder [rad or m]",
        ">torque [N m or N]",
    )
    screen.print(table(end, columns, rows))
    tips = {
        node: place
        for node, place in answer["position"].items()
        if node.endswith("/tip")
    }
    screen.print(
        table(
            "",
            ("node", ">x [m]", ">y [m]", ">z [m]"),
            [(node, *vector(place)) for node, place in tips.items()],
        )
    )
    energy = answer["energy"]
    screen.print(
        table(
            "",
            [f">{kind} [J]" for kind in energy],
            [[number(value) for value in energy.values()]],
        )
    )
    screen.print(
        f"energy balance: residual at most {answer['energy_residual']:.1e} of the largest energy"
    )
    solver, wall = answer["solver"], answer["wall_s"]
    screen.print(
        f"{solver['method']}: {solver['steps']} steps, {solver['rejected']} rejected, "
        f"{solver['rhs_evaluations']} evaluations"
    )
    speed = answer["t_end"] / max(wall["run"], 1e-9)
    screen.print(
        f"build {wall['build']:.2f} s, compile {wall['compile']:.2f} s, run {wall['run']:.2f} s "
        f"({speed:.2g} times real time)"
    )
    for kind, path in answer["files"].items():
        screen.print(f"{kind}: {path}")
