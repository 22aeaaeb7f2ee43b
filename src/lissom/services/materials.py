"""The materials of the library."""

from ..describe.material import library_material, material_names
from .frozen_model import FrozenModel


class LibraryMaterial(FrozenModel):
    """A linear elastic, isotropic material by its name."""

    name: str
    E: float  # [Pa]
    nu: float
    density: float  # [kg/m^3]
    yield_stress: float | None  # [Pa]


def materials() -> tuple[LibraryMaterial, ...]:
    """The materials that a robot file may name."""
    found = []
    for name in material_names():
        material = library_material(name)
        listed = LibraryMaterial(
            name=name,
            E=material.E,
            nu=material.nu,
            density=material.density,
            yield_stress=material.yield_stress,
        )
        found.append(listed)
    return tuple(found)
