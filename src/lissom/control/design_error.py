"""The error of a controller that cannot be designed."""


class DesignError(ValueError):
    """No controller can be designed for this robot in this way; `field` is the key at fault, if there is one."""

    def __init__(self, message: str, field: str = ""):
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


def wrong_count(found: int, count: int, field: str) -> DesignError:
    """The error of a wrong number of values where one, or one for each of `count`, is needed."""
    accepted = "one number" if count == 1 else f"one number, or {count} of them"
    return DesignError(f"must be {accepted}, got {found}", field)
