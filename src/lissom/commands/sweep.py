"""`lissom sweep`: thousands of runs that resume."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..files.errors import refused
from .interrupt import stopping_between_steps
from .options import Json, Settings
from .output import (
    console,
    note,
    number,
    print_files,
    print_json,
    print_model,
    table,
)
from .parsing import changes_of, option_names
from .progress import counted_progress

if TYPE_CHECKING:
    from rich.console import Console

    from ..services.sweep import SweepResult


def sweep(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="Study file; with --over a scenario, robot or comparison of controllers; with --status the folder of "
            "a study.",
        ),
    ],
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="KEY=START:STOP:COUNT",
            help="A key that varies: payload.mass=0:2:50, 'upper=0:90:7 deg', or a list payload.mass=[0,1,5]; may be "
            "repeated.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="A number that is kept, such as tip_deflection, or residual_vibration:after=0.5; may be repeated.",
        ),
    ] = None,
    analysis: Annotated[
        str,
        typer.Option(
            help="simulate, static, modes, linearize, or control (a comparison of controllers); with --over."
        ),
    ] = "simulate",
    sampling: Annotated[
        str,
        typer.Option(
            help="grid, together, random, sobol, halton, latin-hypercube or saltelli; with --over."
        ),
    ] = "grid",
    samples: Annotated[
        int | None, typer.Option(help="Number of samples, where they are drawn.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of samples that are drawn.")] = 0,
    settings: Settings = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder for what is done; default: STUDY.sweep beside the study.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; default: one for each core."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Compute on a Dask cluster: the address of its scheduler, or local.",
        ),
    ] = None,
    tls_ca: Annotated[
        str | None, typer.Option(metavar="PEM", help="Certificate authority (tls://).")
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(metavar="PEM", help="Own certificate (tls://).")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(metavar="PEM", help="Own key (tls://).")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="NC", help="Copy of the dataset."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="PNG", help="Figure of the study: .png, .pdf, .svg."),
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="HTML", help="Report in one page.")
    ] = None,
    status: Annotated[
        bool,
        typer.Option(
            "--status", help="Only say how far the study is, also while it is computed."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Compute an analysis over many values of chosen keys: on all cores, resumed where it stopped.

    Example: lissom sweep double-pendulum --over payload.mass=0:2:50 --metric tip_deflection --store payloads.sweep
    """
    from ..services.sweep import SweepRequest
    from ..services.sweep import status as status_of
    from ..services.sweep import sweep as computed

    if status:
        return _tell(status_of(_folder(study, store)), json)
    described: Any = study
    if over or metric:
        described = {
            "scenario": study,
            "analysis": analysis,
            "changes": changes_of(settings, {}),
            "over": dict(_axis(text) for text in over or ()),
            "metrics": [_metric(text) for text in metric or ()],
            "sampling": sampling,
            "samples": samples,
            "seed": seed,
        }
    elif settings:
        message = "a study file has `changes`: write them there"
        raise refused("--set", settings[0], message)
    request = SweepRequest(
        study=described,
        store=store,
        workers=workers,
        cluster=cluster,
        tls_ca=tls_ca,
        tls_cert=tls_cert,
        tls_key=tls_key,
        result=output,
        picture=plot,
        report=report,
    )
    with (
        option_names(
            store="--store",
            result="-o",
            picture="--plot",
            report="--report",
            cluster="--cluster",
            tls_ca="--tls-ca",
            tls_cert="--tls-cert",
            tls_key="--tls-key",
        ),
        _watching() as watch,
    ):
        answer = computed(request, watch)
    _tell(answer, json)


@contextmanager
def _watching():
    """A bar with rate and time left; a signal stops the study, and what is done is kept."""
    with (
        counted_progress("runs") as show,
        stopping_between_steps(lambda _: None) as stop,
    ):

        def watch(tally: Any) -> None:
            show(tally.done, tally.runs, tally.rate, tally.failed)
            stop(float(tally.done))

        yield watch


def _folder(study: str, store: str | None) -> str:
    from ..studies.store import default_store, store_exists

    if store is not None:
        return store
    return study if store_exists(study) else str(default_store(study))


def _axis(text: str) -> tuple[str, Any]:
    """`payload.mass=0:2:50` or `payload.mass=[0, 1]` as key and axis."""
    from ..files.document import parse_document

    key, equals, written = text.partition("=")
    if not equals or not key.strip() or not written.strip():
        message = "must be KEY=START:STOP:COUNT or KEY=[VALUES]: payload.mass=0:2:50"
        raise refused("--over", text, message)
    if written.lstrip().startswith(("[", "{")):
        return key.strip(), parse_document(written, file=f"--over {key}").data
    return key.strip(), written


def _metric(text: str) -> Any:
    """`residual_vibration:after=0.5,node=upper/tip` as a metric with its options."""
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    options: dict[str, Any] = {"metric": name}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            message = "must be NAME or NAME:option=value: residual_vibration:after=0.5"
            raise refused("--metric", text, message)
        options[key.strip()] = _plain(value.strip())
    return options


def _plain(text: str) -> Any:
    from ..files.document import parse_document

    return parse_document(text).data


def _tell(answer: "SweepResult", as_json: bool) -> None:
    for line in answer.notes:
        note(line)
    if as_json:
        return print_json(answer)
    _print(console(), answer)


def _print(screen: "Console", answer: "SweepResult") -> None:
    failed = f", {answer.failed} failed" if answer.failed else ""
    now = (
        f" ({answer.computed} now, in {answer.seconds:.3g} s)"
        if answer.computed
        else ""
    )
    screen.print(
        f"{answer.done} of {answer.runs} runs done{failed}{now}: {answer.store}"
    )
    print_model(screen, answer)
    if answer.worst:
        rows = []
        for case in answer.worst:
            values = ", ".join(f"{k} = {_short(v)}" for k, v in case.values.items())
            unit = "" if case.unit == "1" else f" {case.unit}"
            value = f"{number(case.value)}{unit}"
            rows.append((case.metric, value, str(case.run), values))
        columns = ("metric", ">worst", ">run", "values")
        screen.print(table("Worst cases", columns, rows))
    commands = {case.run: case.command for case in answer.worst}
    for run, command in commands.items():
        if command is not None:
            screen.print(f"run {run}: {command}", soft_wrap=True)
    for one in answer.yields:
        percent = f"{100 * one.part:.4g} %"
        screen.print(
            f"yield, {one.name}: {percent} ({100 * one.low:.4g} to {100 * one.high:.4g} %)"
        )
    for failure in answer.failures:
        screen.print(f"run {failure.run} failed: {failure.reason}", soft_wrap=True)
    print_files(screen, answer.files)


def _short(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
