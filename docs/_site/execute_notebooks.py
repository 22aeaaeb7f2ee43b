"""Runs the notebooks and stores what they show, without what changes from run to run.

python docs/_site/execute_notebooks.py             all of docs/notebooks
python docs/_site/execute_notebooks.py vibration   this one
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def worth_keeping(output: Any) -> bool:
    """Results and pictures; not what a terminal would print, nor progress bars that are done."""
    if output["output_type"] == "stream":
        return False
    return output["output_type"] != "display_data" or "image/png" in output["data"]


def executed(file: Path) -> Any:
    """The notebook with its outputs."""
    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=1200, resources=resources).execute()
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if worth_keeping(out)]
    return notebook


if __name__ == "__main__":
    names = sys.argv[1:] or sorted(file.stem for file in FOLDER.glob("*.ipynb"))
    for name in names:
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(executed(path), path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
