"""Pages that show files beside docs/: the examples, and how to contribute."""

import ast
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]


def examples() -> str:
    """Every example: what it shows, as its header says it, and its code."""
    files = sorted((ROOT / "examples").glob("*.py"))
    return "\n".join(section(file) for file in files)


def section(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    header = ast.get_docstring(ast.parse(text)) or ""
    title, _, rest = header.partition("\n")
    code = text.split('"""', 2)[2].strip()
    parts = [f"## {file.name}", title]
    if rest.strip():
        parts.append(f"```text\n{textwrap.dedent(rest).strip()}\n```")
    return "\n\n".join([*parts, f"```python\n{code}\n```\n"])


def file_beside(name: str) -> str:
    """A Markdown file beside docs/ without its title, its links as seen from docs/."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.partition("\n")[2].replace("](docs/", "](/")
