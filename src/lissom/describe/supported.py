"""What this version can simulate: the one place where the rest is refused."""

FORMULATIONS = ("erls-fem", "erls-cms")
KNOWN_FORMULATIONS = ("erls-fem", "erls-cms", "dual-screw", "nonlinear")


def unavailable(what: str) -> str:
    """The refusal of something that the file format knows and this version does not."""
    return f"{what} not available in this version"
