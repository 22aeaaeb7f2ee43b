"""A self-contained HTML page: what notebooks show inline, and what can be saved."""

import html
from pathlib import Path

from ..atomic import write_atomically

HEIGHT = 560  # of the frame in a notebook [pixel]


class Page:
    """One HTML page with everything in it.

    Args:
        text: of the page.
        title: what it shows.
    """

    def __init__(self, text: str, title: str):
        self.text = text
        self.title = title

    def save(self, path: str | Path) -> Path:
        """The page as a file, which opens in any browser."""
        return write_atomically(path, lambda file: file.write(self.text.encode()))

    def _repr_html_(self) -> str:
        """A frame that holds the page: its style and its program stay inside."""
        page = html.escape(self.text)
        return (
            f'<iframe srcdoc="{page}" title="{html.escape(self.title)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        size = len(self.text) / 1e6
        return f"Animation of {self.title}, {size:.1f} MB: notebooks show it, page.save('run.html') keeps it"
