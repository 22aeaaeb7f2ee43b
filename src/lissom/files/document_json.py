"""Documents as JSON and back, exactly: keys that are no text, int and float, infinity and nan stay what they are."""

import json
from typing import Any

# The one key of an object that stands for a mapping whose keys JSON could not hold: a list of keys and values.
PAIRS = ""


def document_as_json(data: Any, lines: dict[tuple, int]) -> bytes:
    """Data of a document and the lines of its entries.

    Raises:
        ValueError: an integer has thousands of digits.
    """
    places = [[list(path), line] for path, line in lines.items()]
    text = json.dumps([_plain(data), places], ensure_ascii=False, separators=(",", ":"))
    # Halves of surrogate pairs, which YAML can write as `\ud800`, are no UTF-8; each is kept by itself.
    return text.encode("utf-8", "surrogatepass")


def document_of_json(content: bytes) -> tuple[Any, dict[tuple, int]]:
    """Data and lines again.

    Raises:
        ValueError: this is not what `document_as_json` wrote.
    """
    text = content.decode("utf-8", "surrogatepass")
    try:
        data, places = json.loads(text, object_hook=_mapping)
        return data, {tuple(path): line for path, line in places}
    except (TypeError, RecursionError) as reason:
        raise ValueError(str(reason)) from None


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if all(isinstance(key, str) and key != PAIRS for key in value):
        return {key: _plain(item) for key, item in value.items()}
    return {PAIRS: [[key, _plain(item)] for key, item in value.items()]}


def _mapping(found: dict[str, Any]) -> dict[Any, Any]:
    return dict(found[PAIRS]) if PAIRS in found else found
