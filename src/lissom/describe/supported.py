"""The formulations, and which choices each of them takes: the one place where the rest is refused."""

FORMULATIONS = ("erls-fem", "erls-cms", "dual-screw", "nonlinear")

ONE_SET_OF_TERMS = ("nonlinear",)  # formulations without `published` terms
WITH_BASIS = ("dual-screw", "nonlinear")  # formulations that let them be chosen
STIFFENED = (
    "erls-fem",
    "erls-cms",
    "nonlinear",
)  # formulations that take geometric stiffening
TANGENT_ONLY = (
    "dual-screw",
    "nonlinear",
)  # formulations whose joint coordinates are what the encoders read
