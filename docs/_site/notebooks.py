"""Notebooks as pages: their text and code, and what they printed and drew where it is stored in them."""

import json
from collections.abc import Iterator
from pathlib import Path

from myst_parser.parsers.sphinx_ import MystParser


def output_of(output: dict) -> Iterator[str]:
    """A picture, a table, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"]).strip().replace("\n", "")
        yield f'<p><img alt="output" src="data:image/png;base64,{picture}"></p>\n'
    elif "text/html" in data:
        yield f'<div class="output">{"".join(data["text/html"])}</div>\n'.replace(
            "\n\n", "\n"
        )
    elif text := "".join(data.get("text/plain", output.get("text", ""))):
        yield f"```text\n{text.rstrip()}\n```\n"


def cell_text(cell: dict) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield f"{source}\n"
        return
    yield f"```python\n{source}\n```\n"
    for output in cell["outputs"]:
        yield from output_of(output)


def as_markdown(text: str, name: str) -> str:
    """The notebook as one page, with itself to download after its title."""
    cells = json.loads(text)["cells"]
    parts = [part for cell in cells for part in cell_text(cell)]
    title, _, rest = parts[0].partition("\n")
    offered = f"{{download}}`Download this notebook <{name}>`"
    return "\n".join([title, "", offered, "", rest, *parts[1:]])


class NotebookParser(MystParser):
    """A notebook, read as the Markdown that it amounts to."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document) -> None:
        """Fills the document."""
        name = Path(document["source"]).name
        super().parse(as_markdown(inputstring, name), document)


def setup(app) -> dict:
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
