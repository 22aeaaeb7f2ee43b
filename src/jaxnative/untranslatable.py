"""What is raised where a function cannot become machine code."""


class Untranslatable(Exception):
    """Something that has no native form; the caller then uses XLA."""


class Unexpected(Untranslatable):
    """Something that should have a native form, and failed to get it."""
