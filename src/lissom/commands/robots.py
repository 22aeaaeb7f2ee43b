"""`lissom robots`: the library."""

from .options import Json
from .output import console, print_json, table


def robots(json: Json = False) -> None:
    """List the robots and scenarios of the library.

    Example: lissom robots
    """
    from ..services.robots import robots as listed

    library = listed()
    if json:
        return print_json(library)
    screen = console()
    rows = []
    for robot in library.robots:
        links = ", ".join(robot.flexible_links)
        elements = ", ".join(str(count) for count in robot.elements)
        rows.append((robot.name, len(robot.joints), links, elements, robot.source))
    columns = ("name", ">joints", "flexible links", "elements", "source")
    screen.print(table("Robots", columns, rows))
    rows = [(s.name, s.robot, s.t_end, s.source) for s in library.scenarios]
    columns = ("name", "robot", ">t_end [s]", "source")
    screen.print(table("Scenarios", columns, rows))
    screen.print(f"Studies of controllers: {', '.join(library.studies)}")
    screen.print(
        "Try: lissom show anthropomorphic -o robot.png, lissom simulate double-pendulum --plot run.png"
    )
