"""Linear elastic, isotropic materials: by value or by library name."""

from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator

from lissom.types import Scalar

from .document import read_document
from .errors import nearest
from .files import library_folder
from .part import Part
from .quantity import Quantity, error


class Material(Part):
    """A linear elastic, isotropic material."""

    E: Annotated[
        float, Quantity("Pa", above=0, hint="steel has 2.1e11")
    ]  # Young's modulus
    nu: Annotated[
        float, Quantity("", above=-1, below=0.5, hint="steel has 0.3")
    ]  # Poisson's ratio
    density: Annotated[float, Quantity("kg/m^3", above=0, hint="steel has 7850")]  # rho

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
    if name not in _library():
        guess = nearest(name, material_names()) or "."
        raise ValueError(
            f"no such material{guess} Library: {', '.join(material_names())}"
        )
    entry = _library()[name]
    return Material(E=entry["E"], nu=entry["nu"], density=entry["density"])


def _by_name(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return library_material(value)
    except ValueError as reason:
        raise error(str(reason)) from None


NamedMaterial = Annotated[Material, BeforeValidator(_by_name)]
