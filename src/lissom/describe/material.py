"""Linear elastic, isotropic materials: by value or by library name."""

from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ..files.description_files import library_folder
from ..files.document import read_document
from ..files.errors import nearest
from ..files.part import Part, keys_of
from ..files.quantity import Quantity, error
from ..types import Scalar

Stress = Annotated[float, Quantity("Pa", above=0, hint="steel has 2.5e8")]


class Material(Part):
    """A linear elastic, isotropic material."""

    # Young's modulus, Poisson's ratio and density.
    E: Annotated[float, Quantity("Pa", above=0, hint="steel has 2.1e11")]
    nu: Annotated[float, Quantity("", above=-1, below=0.5, hint="steel has 0.3")]
    density: Annotated[float, Quantity("kg/m^3", above=0, hint="steel has 7850")]
    # `yield` in a file, a word that Python keeps for itself.
    yield_stress: Stress | None = Field(
        default=None, alias="yield", description="stress up to which it is elastic"
    )

    @property
    def shear_modulus(self) -> Scalar:
        """G = E / (2 (1 + nu))  [Pa]."""
        return self.E / (2 * (1 + self.nu))


@lru_cache
def _library() -> dict[str, Any]:
    return read_document(library_folder() / "materials.yaml").data


def material_names() -> tuple[str, ...]:
    """The materials of the library."""
    return tuple(_library())


def library_material(name: str) -> Material:
    """A material of the library.

    Raises:
        ValueError: the library holds no such name.
    """
    names = material_names()
    if name not in names:
        guess = nearest(name, names) or "."
        raise ValueError(f"no such material{guess} Library: {', '.join(names)}")
    entry = _library()[name]
    # The library says where its numbers come from, too.
    values = {key: entry[key] for key in keys_of(Material)}
    return Material(**values)


def library_materials() -> tuple[dict[str, Any], ...]:
    """All materials of the library, as plain data."""
    keys = ("E", "nu", "density", "yield_stress")
    found = []
    for name in material_names():
        material = library_material(name)
        found.append({"name": name} | {key: getattr(material, key) for key in keys})
    return tuple(found)


def _by_name(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return library_material(value)
    except ValueError as reason:
        raise error(str(reason)) from None


NamedMaterial = Annotated[Material, BeforeValidator(_by_name)]
