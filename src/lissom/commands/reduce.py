"""`reduce`: a link from finite elements."""

from typing import Annotated

import typer

from .options import Json
from .output import console, print_json, table
from .progress import stages

PLACE = (
    "node number, face name, point x,y,z of a face, x,y,z,radius, or plane x=0.5; "
    "with @x,y,z the node sits elsewhere"
)


def reduce(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FE_FILE",
            help="Matrices: .npz .h5 .op4 .pch .mtx .sti .full; mesh or geometry: .msh .geo .step .brep .iges.",
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
        str | None, typer.Option(metavar="PLACE", help="The other end, likewise.")
    ] = None,
    modes: Annotated[
        int | None, typer.Option(min=0, help="Elastic modes kept; 18 by default.")
    ] = None,
    frequency: Annotated[
        str | None,
        typer.Option(
            metavar="HZ",
            help="Instead: every fixed-interface mode below this frequency.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="craig-bampton, guyan, rubin.")
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
        bool, typer.Option("--mirror", help="One stored triangle stands for both.")
    ] = False,
    mass: Annotated[
        float | None, typer.Option(metavar="KG", help="What the link should weigh.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Reduce although checks of the matrices fail."),
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
    from ..services import reduce_service as service

    places = service.interfaces(interface, inner, tip)
    service.check_file(file)
    with stages() as watch:
        try:
            answer, failure = (
                service.reduce(
                    file,
                    places,
                    output=output,
                    report=report,
                    picture=plot,
                    modes=modes,
                    frequency=service.frequency("--frequency", frequency),
                    method=method,
                    coupling=coupling,
                    material=material,
                    mesh_size=service.length("--mesh-size", mesh_size),
                    units=units,
                    nodes=nodes,
                    mass_file=mass_file,
                    dof_order=dof_order,
                    mirror=mirror,
                    mass=mass,
                    force=force,
                    progress=watch,
                ),
                None,
            )
        except service.FailedImport as failed:
            answer, failure = failed.answer, failed
    if json:
        print_json({key: value for key, value in answer.items() if key != "text"})
    else:
        _print(answer)
    if failure is not None:
        raise typer.Exit(1)


def _print(answer: dict) -> None:
    screen = console()
    screen.print(answer["text"], soft_wrap=True)
    for line in answer["report"]["lines"]:
        if line["name"].startswith("frequencies"):
            values = line["values"]
            columns = (">mode", ">full [Hz]", ">reduced [Hz]", ">error [%]", ">MAC")
            rows = [
                (
                    k + 1,
                    f"{full:.4f}",
                    f"{small:.4f}",
                    f"{100 * error:.4f}",
                    f"{mac:.5f}",
                )
                for k, (full, small, error, mac) in enumerate(
                    zip(
                        *(
                            values[key]
                            for key in ("full_hz", "reduced_hz", "error", "mac")
                        ),
                        strict=True,
                    )
                )
            ]
            screen.print(table(line["name"], columns, rows))
    for kind, path in answer["files"].items():
        screen.print(f"{kind}: {path}")
