"""Controllers: designed for a robot, run on it, and compared with each other."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..describe import DescriptionError
from ..describe.control_study import ControlStudy
from ..describe.controllers import Common, in_law_file, read_controller
from ..describe.errors import refused
from ..describe.scenario import Scenario
from ..describe.time_tables import ReferenceTable
from .frozen_model import ComplexNumber, FrozenModel, complex_numbers
from .output_files import PICTURE, check_outputs
from .sources import scenario_of

if TYPE_CHECKING:
    from ..control.margins import Margins
    from ..show.run import Run
    from ..solve.law import AbstractLaw
    from ..solve.model import Model

NUMBERS = (".json", ".csv")
LAW = (".npz",)


class DesignRequest(FrozenModel):
    """A controller for the robot of a scenario, and the file for its matrices."""

    scenario: Any  # a `Scenario` whose controller is to be designed
    law: str | None = None


class MarginResult(FrozenModel):
    """How far a sampled loop is from instability."""

    stable: bool
    largest_pole: float
    sensitivity: float
    gain: float | None  # None: no limit
    phase_deg: float
    delay_s: float


class DesignResult(FrozenModel):
    """A law, its poles and its margins."""

    robot: str
    type: str
    sample: float | None
    sensors: tuple[str, ...]
    pose: dict[str, float]
    poles: tuple[ComplexNumber, ...]  # of the sampled closed loop, largest first
    margins: MarginResult
    notes: tuple[str, ...]
    file: str | None


def scenario_with_law(
    source: Any, law: str | None, changes: Mapping[str, Any] | None = None
) -> Scenario:
    """A scenario with the controller of a file of its own, or with the one that it has.

    Raises:
        DescriptionError: what is wrong with either file.
    """
    scenario = scenario_of(source, changes)
    if law is None:
        return scenario
    controller = read_controller(law)
    try:
        return scenario.replace({"controller": controller})
    except DescriptionError as failure:
        raise in_law_file(failure, law) from None


def design(request: DesignRequest) -> DesignResult:
    """The law of a scenario on its robot at the end of its motion: poles and margins.

    Raises:
        DescriptionError: the controller cannot be designed, with the reason.
    """
    from ..native.compiled import using

    check_outputs({"law": (request.law, LAW)})
    with using(request.scenario.solver.backend):
        return _design(request)


def _design(request: DesignRequest) -> DesignResult:
    from ..control.described import design_pose
    from ..control.margins import closed_loop_poles, margins_of, open_loop

    scenario = request.scenario
    model, law = _designed(scenario)
    if law.sample is None:
        raise refused(
            "controller.sample", None, "a law is designed and checked as sampled"
        )
    q = design_pose(model, scenario.controller)
    loop = open_loop(model, q, law)
    poles = closed_loop_poles(loop)
    poles = poles[np.argsort(-np.abs(poles))]
    if request.law is not None:
        _save_law(request.law, law, loop, poles)
    return DesignResult(
        robot=scenario.robot.name,
        type=scenario.controller.type,
        sample=float(np.asarray(law.sample)),
        sensors=law.sensors(model),
        pose=dict(zip(model.joint_names, map(float, q), strict=True)),
        poles=complex_numbers(poles),
        margins=_margin_result(margins_of(loop)),
        notes=law.remarks(),
        file=request.law,
    )


def _designed(scenario: Scenario) -> "tuple[Model, AbstractLaw]":
    from ..control.described import law_of
    from ..control.design_model import DesignError
    from ..solve.channels import UnknownNameError
    from ..solve.feedback import wired
    from ..solve.model import Model

    if scenario.controller is None:
        raise refused("controller", None, "the scenario has no controller")
    model = Model.of_scenario(scenario)
    try:
        law = law_of(model, scenario.controller)
        wired(model, law)
    except DesignError as failure:
        field = ".".join(filter(None, ("controller", failure.field)))
        raise refused(field, None, failure.message) from None
    except UnknownNameError as failure:
        raise refused("controller.sensors", failure.name, failure.message) from None
    return model, law


def _margin_result(found: "Margins") -> MarginResult:
    return MarginResult(
        stable=found.stable,
        largest_pole=found.largest_pole,
        sensitivity=found.sensitivity,
        gain=found.gain if np.isfinite(found.gain) else None,
        phase_deg=found.phase_deg,
        delay_s=found.delay,
    )


def _save_law(path: str, law: "AbstractLaw", loop: Any, poles: np.ndarray) -> None:
    """Matrices of the linear law about the point: u = L y + N m, m' = P y + Q m, for use elsewhere."""
    from ..atomic import write_atomically

    data = {
        **loop.law._asdict(),
        "sample": np.asarray(law.sample),
        "sensors": np.array(loop.robot.output_names, dtype=str),
        "torques": np.array(loop.robot.input_names, dtype=str),
        "nominal_measured": np.asarray(loop.robot.operating.outputs),
        "nominal_torque": np.asarray(loop.robot.operating.torque),
        "poles": poles,
    }
    write_atomically(path, lambda file: np.savez_compressed(file, **data))


# --- comparison ----------------------------------------------------------------------------------------------------


class CompareRequest(FrozenModel):
    """A study of controllers, and the files for what comes out."""

    study: Any  # a `ControlStudy`, or its file
    picture: str | None = None
    numbers: str | None = None
    results: str | None = None  # folder for the result file of every run


class ControllerRow(FrozenModel):
    """What one controller did."""

    name: str
    type: str
    failed: str | None = None  # why there are no numbers
    notes: tuple[str, ...] = ()
    finish: float | None = None  # from then on all encoders stay near their ends [s]
    tracking_peak: float | None = None  # [rad or m]
    tracking_rms: float | None = None
    residual: float | None = None  # [m]
    residual_share: float | None = None  # of that of the first controller
    settling: float | None = None  # [s]; None: not within the run
    strain_peak: float | None = None  # of the gauges, at the outer fibre
    end_error: float | None = None  # of an encoder at the end of the run [rad or m]
    torque_peak: float | None = None  # [N m or N]
    torque_rms: float | None = None
    energy: float | None = None  # [J]
    energy_residual: float | None = None  # of the audit, against the largest energy
    stable: bool | None = None
    sensitivity: float | None = None
    phase_margin_deg: float | None = None
    microseconds: float | None = None  # per sample


class CompareResult(FrozenModel):
    """A table of controllers."""

    robot: str
    first_mode_hz: float
    stop: float  # end of the motion [s]
    watched: float  # time over which vibration is watched after it [s]
    rows: tuple[ControllerRow, ...]
    files: dict[str, str]


def compare(
    request: CompareRequest, watch: Callable[[int, str], None] = lambda k, name: None
) -> CompareResult:
    """Runs every controller of a study on the full robot.

    Args:
        request: the study and its files.
        watch: called with the number and the name of the controller that comes next.
    """
    from ..native.compiled import using

    check_outputs(
        {"picture": (request.picture, PICTURE), "numbers": (request.numbers, NUMBERS)}
    )
    study = request.study
    if not isinstance(study, ControlStudy):
        study = ControlStudy.load(study)
    study = study.model_copy(update={"scenario": study.changed_scenario, "changes": {}})
    with using(study.scenario.solver.backend):
        return _compared(request, study, watch)


def _compared(
    request: CompareRequest, study: ControlStudy, watch: Callable[[int, str], None]
) -> CompareResult:
    from ..control.described import design_pose
    from ..control.design_model import DesignError
    from ..control.quality import PERIODS
    from ..control.tuning import first_driven_mode
    from ..solve.model import Model

    model = Model.of_scenario(study.scenario)
    gauges = gauges_of(model, study)
    first = next(iter(study.controllers.values()))
    q = design_pose(model, first)
    try:
        period = 2 * np.pi / first_driven_mode(model, q).omega
    except DesignError as failure:
        raise refused("scenario.robot", None, str(failure)) from None
    stop = float(study.motion.t[-1])
    runs: dict[str, Run] = {}
    rows: list[ControllerRow] = []
    for k, name in enumerate(study.controllers):
        watch(k, name)
        row, run = _row(study, model, name, q, stop, period, gauges)
        if run is not None:
            runs[name] = run
        rows.append(_with_share(row, rows))
    files = _written(request, runs, rows, stop, q, model, study)
    return CompareResult(
        robot=study.scenario.robot.name,
        first_mode_hz=1 / period,
        stop=stop,
        watched=PERIODS * period,
        rows=tuple(rows),
        files=files,
    )


def _row(study: ControlStudy, model: "Model", name: str, q, stop, period, gauges):
    """One controller on the full robot; a failure is a row with its reason."""
    from ..control.described import law_of
    from ..control.design_model import DesignError
    from ..control.margins import margins
    from ..scenarios.ready import initial_state
    from ..show.run import SimulationError, simulate
    from ..solve.channels import UnknownNameError
    from .law_cost import microseconds_per_sample

    controller = study.controllers[name]
    kind = controller.type
    try:
        controller = finishing_at(model, controller, stop)
        law = law_of(model, controller)
        found = None if law.sample is None else margins(model, q, law)
        check_stable(controller, found)
        run = simulate(
            model,
            initial_state(model, study.scenario),
            t_end=stop + study.periods * period,
            output_dt=min(1e-3, period / 40),
            torque=law,
            solver=study.scenario.solver,
        )
    except (DesignError, UnknownNameError, DescriptionError) as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), None
    except SimulationError as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), failure.run
    numbers = _numbers(study, model, law, controller, run, q, stop, period)
    numbers["strain_peak"] = peak_strain(model, run, gauges)
    numbers["notes"] = (*law.remarks(), *law.incidents())
    if found is not None:
        numbers |= {
            "stable": found.stable,
            "sensitivity": found.sensitivity,
            "phase_margin_deg": found.phase_deg,
        }
    cost = microseconds_per_sample(model, law)
    return ControllerRow(name=name, type=kind, microseconds=cost, **numbers), run


def check_stable(controller: Any, found: "Margins | None") -> None:
    """Refuse a loop that is unstable on the full robot.

    Raises:
        DesignError: with its largest pole, and the bandwidth where one is written.
    """
    from ..control.design_model import DesignError

    if found is None or found.stable:
        return
    gains = getattr(controller, "gains", None)
    what = f"a {controller.type} loop"
    if gains is not None and gains.bandwidth is not None:
        what = f"a position loop of {gains.bandwidth:g} Hz"
    raise DesignError(
        f"{what} sampled every {controller.sample:g} s is unstable on the full robot: its largest pole is "
        f"{found.largest_pole:.4g}. Lower the bandwidth, sample faster, or filter the derivative more (gains.lag)",
        "gains.bandwidth" if gains is not None and gains.bandwidth else "",
    )


def finishing_at(model: "Model", controller: Any, stop: float) -> Any:
    """The controller with its motion shortened, so that it ends at a time with its shaper.

    Raises:
        DesignError: the shaper alone takes longer.
    """
    from ..control.described import (
        believed_model,
        design_pose,
        impulses_of,
        reference_of,
        shaped_modes,
    )
    from ..control.design_model import DesignError

    if not isinstance(controller, Common) or controller.shaper is None:
        return controller
    if not isinstance(controller.reference, ReferenceTable):
        # The time of a planned motion is what its limits allow.
        return controller
    known = believed_model(model, controller)
    wanted = shaped_modes(known, design_pose(known, controller), controller.shaper)
    length = impulses_of(controller.shaper, wanted).duration
    for _ in range(3 if controller.shaper.follow else 1):
        if length >= stop:
            raise DesignError(
                f"shaper: it takes {length:.3g} s, longer than the whole motion of {stop:.3g} s"
            )
        found = _ending_at(controller, stop - length)
        if controller.shaper.follow:
            # Delays that follow a mode depend on the motion itself.
            shaped = reference_of(known, found)
            length = float(shaped.breakpoints[-1]) - (stop - length)
    return found


def _ending_at(controller: Any, end: float) -> Any:
    """The controller with the times of its table scaled."""
    table = controller.reference
    share = end / float(table.t[-1])
    shorter = ReferenceTable(
        t=tuple(share * t for t in table.t),
        value=table.value,
        interpolation=table.interpolation,
    )
    return controller.model_copy(update={"reference": shorter})


def _numbers(study, model, law, controller, run, q, stop, period) -> dict[str, Any]:
    from ..control.described import reference_of
    from ..control.quality import (
        PERIODS,
        drive_work,
        finish_time,
        residual_vibration,
        settling_time,
    )
    from ..solve.signals import Table
    from .simulate import energy_residual

    data = run.data
    t = data["time"].values
    joints = list(model.actuated_names)
    encoder = data["encoder"].sel(joint=joints).values
    torque = data["torque"].sel(joint=joints).values
    if isinstance(controller, Common):
        reference = reference_of(model, controller)
    else:
        table = controller.reference
        reference = Table(table.t, table.value, "linear", after="hold")
    wanted = np.array([np.asarray(reference.value(time)) for time in t])
    error = encoder - wanted
    node = watched_node(model, study)
    resting = model.static(q)
    displacement = (
        data["position"].sel(node=node).values
        - data["erls_position"].sel(node=node).values
    )
    final = np.asarray(model.displacement(resting, node))
    path = data["position"].sel(node=node).values
    speed = np.gradient(encoder, t, axis=0)
    settling = settling_time(t, path, np.asarray(model.position(resting, node)), stop)
    return {
        "finish": finish_time(t, encoder, wanted[-1]),
        "end_error": float(np.abs(error[-1]).max()),
        "tracking_peak": float(np.abs(error).max()),
        "tracking_rms": float(np.sqrt(np.mean(error**2))),
        "residual": residual_vibration(t, displacement, final, stop, PERIODS * period),
        "settling": settling if np.isfinite(settling) else None,
        "torque_peak": float(np.abs(torque).max()),
        "torque_rms": float(np.sqrt(np.mean(torque**2))),
        "energy": drive_work(t, torque, speed),
        "energy_residual": energy_residual(run),
    }


class Gauge(NamedTuple):
    """A curvature that is watched, and the outer fibre there."""

    name: str
    fibre: float  # distance from the axis [m]


def gauges_of(model: "Model", study: ControlStudy) -> tuple[Gauge, ...]:
    """The gauges of a study; by default at the root of every beam, in both planes.

    Raises:
        DescriptionError: a name that the robot does not have, or that is no curvature.
    """
    from ..solve.channels import UnknownNameError, output_named

    names = study.gauges
    if names is None:
        names = []
        for link in model.robot.links:
            if link.beam is not None:
                names += [f"{link.name}/element0.{of}" for of in ("kz", "ky")]
    found = []
    for name in names:
        try:
            channel = output_named(model, name)
        except UnknownNameError as failure:
            raise refused("gauges", name, failure.message) from None
        if channel.kind != "strain" or not name.endswith(("kz", "ky")):
            raise refused("gauges", name, "must be a curvature: upper/element0.kz")
        found.append(Gauge(name, _outer_fibre(model, name)))
    return tuple(found)


def _outer_fibre(model: "Model", name: str) -> float:
    from ..analyse.validity.fibres import fibres
    from ..describe.section import section_at

    beam: Any = model.robot.links[model.link_names.index(name.partition("/")[0])].beam
    outer = fibres(section_at(beam.section, 0.0), beam.material.nu)
    return outer.y if name.endswith("kz") else outer.z


def peak_strain(model: "Model", run: "Run", gauges: tuple[Gauge, ...]) -> float | None:
    """Largest strain of the gauges in a run."""
    from ..solve.channels import output_named
    from ..solve.readings import gauge_readings

    if not gauges:
        return None
    channels = tuple(output_named(model, gauge.name) for gauge in gauges)
    elastic = run.data["elastic"].values
    curvature = gauge_readings(model, channels, run.q, elastic)
    fibre = np.array([gauge.fibre for gauge in gauges])
    return float(np.abs(curvature * fibre).max())


def watched_node(model: "Model", study: ControlStudy) -> str:
    """The node whose vibration is watched, as result files call it."""
    place = model.find_node(study.node or f"{model.link_names[-1]}/tip")
    return model.node_names[model.node_index.index(place)]


def _with_share(row: ControllerRow, before: list[ControllerRow]) -> ControllerRow:
    """The row with its residual against that of the first controller."""
    first = before[0] if before else row
    if row.residual is None or not first.residual:
        return row
    return row.model_copy(update={"residual_share": row.residual / first.residual})


def _written(request, runs, rows, stop, q, model, study) -> dict[str, str]:
    from pathlib import Path

    files = {}
    if request.results is not None:
        folder = Path(request.results)
        folder.mkdir(parents=True, exist_ok=True)
        for name, run in runs.items():
            run.save(folder / result_name(name, list(study.controllers)))
        files["results"] = request.results
    if request.numbers is not None:
        _write_numbers(request.numbers, rows)
        files["numbers"] = request.numbers
    if request.picture is not None:
        from ..show.plot_comparison import plot_comparison

        node = watched_node(model, study)
        plot_comparison(runs, node, stop, request.picture)
        files["picture"] = request.picture
    return files


def result_name(name: str, names: list[str]) -> str:
    """The file of a controller's run: its place in the study, and its name in letters that every system takes."""
    plain = re.sub(r"[^\w-]+", "-", name).strip("-") or "run"
    return f"{names.index(name):02d}-{plain}.nc"


def _write_numbers(path: str, rows: list[ControllerRow]) -> None:
    import csv
    import io
    import json

    from ..atomic import write_atomically

    data = [row.model_dump() for row in rows]
    if path.endswith(".json"):
        text = json.dumps(data, indent=1)
    else:
        page = io.StringIO()
        writer = csv.DictWriter(page, fieldnames=list(data[0]))
        writer.writeheader()
        writer.writerows(data)
        text = page.getvalue()
    write_atomically(path, lambda file: file.write(text.encode()))
