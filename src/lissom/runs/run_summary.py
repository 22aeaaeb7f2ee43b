"""The end of a run in tables and as plain data, by the names of joints and nodes."""

from typing import Any

from ..describe.modelled import run_model_facts
from ..describe.robot_facts import named_nodes, values_by_name
from ..files.summary import Summary, fixed, number, plain

JOINTS = (
    "joint",
    "q [rad or m]",
    "qd [rad/s or m/s]",
    "encoder [rad or m]",
    "torque [N m or N]",
)
TIPS = ("node", "x [m]", "y [m]", "z [m]")


def run_data(run: Any) -> dict[str, Any]:
    """The final state of a run, how it was computed, and how long that took."""
    facts = run.facts
    joints, nodes, kinds = map(run.labels, ("joint", "node", "kind"))
    last = {name: run.values(name)[-1] for name in ("qd", "encoder", "torque")}
    return plain(
        run_model_facts(facts)
        | {
            "t_end": run.t[-1],
            "complete": run.complete,
            "q": values_by_name(joints, run.q[-1]),
            "qd": values_by_name(joints, last["qd"]),
            "encoder": values_by_name(joints, last["encoder"]),
            "torque": values_by_name(joints, last["torque"]),
            "position": named_nodes(nodes, run.values("position")[-1]),
            "energy": values_by_name(kinds, run.values("energy")[-1]),
            "energy_residual": run.energy_residual,
            "solver": {
                "method": facts.get("method"),
                "steps": facts.get("steps"),
                "rejected": facts.get("rejected"),
                "rhs_evaluations": facts.get("rhs_evaluations"),
            },
            "wall_s": {
                part: facts.get(f"wall_{part}_s")
                for part in ("build", "compile", "run")
            },
            "notes": run.notes,
            "warnings": run.warnings,
            "files": run.files,
        }
    )


def run_summary(run: Any) -> Summary:
    """Joints and tips at the end of a run, its energies, how it was computed, closing notes and files."""
    facts = run.facts
    if not len(run.t):
        return Summary(f"{facts.get('name', 'robot')}: no samples")
    data = run_data(run)
    joints = tuple(
        (joint, *(number(data[key][joint]) for key in ("q", "qd", "encoder", "torque")))
        for joint in data["q"]
    )
    tips = tuple(
        (node, *fixed(position))
        for node, position in data["position"].items()
        if node.endswith("/tip")
    )
    energy = tuple(number(value) for value in data["energy"].values())
    balance = f"residual at most {run.energy_residual:.1e} of the largest energy"
    solver = data["solver"]
    steps = (
        f"{solver['steps']} steps, {solver['rejected']} rejected, "
        f"{solver['rhs_evaluations']} evaluations"
    )
    computed = (
        ("energy balance", balance),
        ("model", data["model"]),
        (str(solver["method"]), steps),
    )
    columns = tuple(f"{kind} [J]" for kind in data["energy"])
    parts = [
        Summary("", (), TIPS, tips),
        Summary("", computed, columns, (energy,), _times(data)),
        *map(Summary, run.closing_notes),
    ]
    if run.files:
        parts.append(Summary("", tuple(run.files.items())))
    reason = () if run.complete else (("incomplete", str(facts.get("reason", ""))),)
    title = f"{data['robot']} at {data['t_end']:g} s"
    return Summary(title, reason, JOINTS, joints, parts=tuple(parts))


def _times(data: dict[str, Any]) -> str:
    wall = data["wall_s"]
    if None in wall.values():
        return ""
    speed = data["t_end"] / max(wall["run"], 1e-9)
    return (
        f"build {wall['build']:.2f} s, compile {wall['compile']:.2f} s, run {wall['run']:.2f} s "
        f"({speed:.2g} times real time)"
    )
