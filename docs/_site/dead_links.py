"""Dead links of a built site: every address inside it leads to a file, and to a place in that file.

python docs/_site/dead_links.py build/docs

Also named: scripts, styles, fonts and pictures from elsewhere, without which a page would not work offline.
"""

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ADDRESSES = {
    "a": "href",
    "link": "href",
    "img": "src",
    "script": "src",
    "source": "src",
}


class Page(HTMLParser):
    """Addresses that a page names, and places in it that can be named."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.addresses: list[tuple[str, str]] = []
        self.places: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list) -> None:
        """One element."""
        values = dict(attrs)
        self.places.update(value for key, value in attrs if key in ("id", "name"))
        address = values.get(ADDRESSES.get(tag, ""))
        if address:
            self.addresses.append((tag, address))


@cache
def page_at(file: Path) -> Page:
    return Page(file)


def problems_of(page: Page) -> Iterator[str]:
    """Addresses that lead nowhere, and parts of the page that need the network."""
    for tag, address in page.addresses:
        parts = urlsplit(address)
        if parts.scheme in ("data", "mailto"):
            continue
        if parts.scheme or parts.netloc:
            if tag != "a":
                yield f"{page.file}: {address} is not beside the page"
            continue
        file = (page.file.parent / unquote(parts.path)) if parts.path else page.file
        place = unquote(parts.fragment)
        if not file.is_file():
            yield f"{page.file}: {address} does not exist"
        elif (
            place
            and file.suffix == ".html"
            and place not in page_at(file.resolve()).places
        ):
            yield f"{page.file}: {address} has no such place"


def problems(site: Path) -> list[str]:
    """All problems of all pages."""
    pages = sorted(site.resolve().rglob("*.html"))
    return [problem for file in pages for problem in problems_of(page_at(file))]


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
