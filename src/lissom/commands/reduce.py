"""`lissom reduce`: a link from finite elements."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from .options import Json
from .output import console, print_files, print_json, table
from .parsing import frequency as frequency_of
from .parsing import interfaces, length, option_names
from .progress import stages

if TYPE_CHECKING:
    from ..services.reduce import ReduceResult

PLACE = (
    "node number, face name, point x,y,z of a face, x,y,z,radius, or plane x=0.5; "
    "with @x,y,z the node sits elsewhere"
)


def reduce(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FE_FILE",
            help="Matrices: .npz .h5 .op4 .pch .mtx .sti .full; mesh or geometry: .msh .step .brep .iges, .geo.",
        ),
    ],
    interface: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NODE,...",
            help="Where joints sit: inner=1,tip=57, or faces by name.",
        ),
    ] = None,
    inner: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help=f"The end at the joint: {PLACE}."),
    ] = None,
    tip: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="The other end, in the same way."),
    ] = None,
    modes: Annotated[
        int | None, typer.Option(min=0, help="Elastic modes kept; 18 by default.")
    ] = None,
    frequency: Annotated[
        str | None,
        typer.Option(
            metavar="HZ",
            help="Instead of --modes: keep every fixed-interface mode below this frequency.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="craig-bampton, guyan, or free-interface (Rubin's).")
    ] = "craig-bampton",
    coupling: Annotated[
        str, typer.Option(help="Faces are tied rigid (RBE2) or distributing (RBE3).")
    ] = "rigid",
    material: Annotated[
        str | None, typer.Option(help="Of a mesh or geometry: a library material.")
    ] = None,
    mesh_size: Annotated[
        str | None,
        typer.Option(metavar="LENGTH", help="Edge of the tetrahedra: '5 mm'."),
    ] = None,
    units: Annotated[
        str,
        typer.Option(help="Of the numbers in the file: m-kg-s, mm-t-s, mm-kg-ms, ..."),
    ] = "m-kg-s",
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Coordinates, for .op4 .mtx .full: .bdf .pch .inp .rst .cdb.",
        ),
    ] = None,
    mass_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Mass matrix, for .mtx.")
    ] = None,
    dof_order: Annotated[
        str, typer.Option(help="by-node or by-component, where the file names no dofs.")
    ] = "by-node",
    mirror: Annotated[
        bool,
        typer.Option(
            "--mirror",
            help="The file stores one triangle of symmetric matrices: it stands for both.",
        ),
    ] = False,
    mass: Annotated[
        float | None, typer.Option(metavar="KG", help="What the link should weigh.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Reduce although checks of the matrices fail."),
    ] = False,
    trust_scripts: Annotated[
        bool,
        typer.Option(
            "--trust-scripts",
            help="Run a .geo file: it is a script of gmsh, and can run commands and write files.",
        ),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="NPZ", help="The reduced link."),
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="JSON", help="The report as JSON.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="PNG", help="The report as one page: .png, .pdf, .svg."),
    ] = None,
    json: Json = False,
) -> None:
    """Bring in a link from a finite-element program, a mesh or a geometry: check it, reduce it, report.

    Examples: lissom reduce job.sti --inner hub --tip flange -o link.npz --plot report.png,
    lissom reduce bracket.step --material aluminium --inner 0,0,0 --tip 0.3,0,0 --mesh-size '6 mm' -o link.npz
    """
    from ..runs.failures import FailedImport
    from ..services.reduce import ReduceRequest
    from ..services.reduce import reduce as reduced_link

    request = ReduceRequest(
        file=file,
        interface=interfaces(interface, inner, tip),
        modes=modes,
        frequency=frequency_of("--frequency", frequency),
        method=method,
        coupling=coupling,
        material=material,
        mesh_size=length("--mesh-size", mesh_size),
        units=units,
        nodes=nodes,
        mass_file=mass_file,
        dof_order=dof_order,
        mirror=mirror,
        mass=mass,
        force=force,
        trust_scripts=trust_scripts,
        link=output,
        report=report,
        picture=plot,
    )
    named = option_names(file="FE_FILE", link="-o", report="--report", picture="--plot")
    passed = True
    with named, stages() as watch:
        try:
            answer = reduced_link(request, watch)
        except FailedImport as failure:
            # The report says what failed, and is worth printing all the more.
            answer = failure.result
            passed = False
    if json:
        print_json({"report": answer.report, "files": answer.files})
    else:
        _print(console(), answer)
    if not passed:
        raise typer.Exit(1)


def _print(screen: Console, answer: "ReduceResult") -> None:
    screen.print(answer.text, soft_wrap=True)
    for line in answer.report["lines"]:
        if line["name"].startswith("frequencies"):
            screen.print(_frequency_table(line["name"], line["values"]))
    print_files(screen, answer.files)


def _frequency_table(title: str, values: dict[str, list[float]]) -> Table:
    """Frequencies of the full and the reduced link side by side."""
    columns = (">mode", ">full [Hz]", ">reduced [Hz]", ">error [%]", ">MAC")
    rows = []
    for k, full in enumerate(values["full_hz"]):
        row = (
            k + 1,
            f"{full:.4f}",
            f"{values['reduced_hz'][k]:.4f}",
            f"{100 * values['error'][k]:.4f}",
            f"{values['mac'][k]:.5f}",
        )
        rows.append(row)
    return table(title, columns, rows)
