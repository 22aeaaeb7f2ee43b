"""XML files as elements that know their lines: nothing is repaired, and nothing outside of the file is read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from .document import MAX_BYTES, TOO_LARGE
from .errors import DescriptionError, Problem, refused


@dataclass(frozen=True)
class XmlElement:
    """An XML element: its tag, its attributes, its children, and where it stands."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    file: str
    children: list["XmlElement"] = field(default_factory=list)

    def all(self, tag: str) -> Iterator["XmlElement"]:
        """Children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> "XmlElement | None":
        """The first child with this tag; None if there is none."""
        return next(self.all(tag), None)

    def text(self, name: str) -> str:
        """An attribute that has to be there.

        Raises:
            DescriptionError: it is not.
        """
        if name not in self.attributes:
            raise self.refusal(name, None, "missing")
        return self.attributes[name]

    def numbers(self, name: str, count: int) -> list[float] | None:
        """So many numbers of an attribute; None where it is not written.

        Raises:
            DescriptionError: it is something else.
        """
        written = self.attributes.get(name)
        if written is None:
            return None
        try:
            values = [float(word) for word in written.split()]
        except ValueError:
            values = []
        if len(values) != count:
            wanted = "a number" if count == 1 else f"{count} numbers"
            raise self.refusal(name, written, f"must be {wanted}")
        return values

    def number(self, name: str, default: float | None = None) -> float | None:
        """One number of an attribute, or the default where it is not written.

        Raises:
            DescriptionError: it is something else.
        """
        values = self.numbers(name, 1)
        return default if values is None else values[0]

    def refusal(self, name: str, value: str | None, message: str) -> DescriptionError:
        """The error to raise about an attribute, with file and line."""
        where = f"<{self.tag} {name}>" if name else f"<{self.tag}>"
        return DescriptionError([Problem(self.file, self.line, where, value, message)])


class _Reader:
    """Puts elements together as the parser meets them."""

    def __init__(self, file: str):
        self.file = file
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.open: list[XmlElement] = []
        self.root: XmlElement | None = None

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        element = XmlElement(tag, attributes, line, self.file)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _refuse_doctype(self, *_: object) -> None:
        # Its entities could read other files, or fill the memory.
        raise ValueError("a document type (<!DOCTYPE) is not accepted")


def read_xml(path: Path, kind: str) -> XmlElement:
    """The root element of an XML file.

    Raises:
        DescriptionError: the file is no whole XML file, is too large, or has a document type.
    """
    file = str(path)
    if path.stat().st_size > MAX_BYTES:
        raise refused("", None, TOO_LARGE, file)
    reader = _Reader(file)
    try:
        reader.parser.Parse(path.read_bytes(), True)
    except (expat.ExpatError, ValueError, LookupError) as reason:
        # An encoding that is not known is a LookupError.
        message = f"is not a {kind} file that can be read: {reason}"
        raise refused("", None, message, file) from None
    assert reader.root is not None
    return reader.root
