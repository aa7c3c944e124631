"""Codes of UCUM, case-sensitive: the grammar over the generated table of symbols, in linear time. Source: https://ucum.org/ucum#section-Syntax-Rules.

As the official examples have it, an annotation may also follow a factor or brackets ("100/{cells}", "g/(8.h){shift}").
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

SYSTEM: Final = "http://unitsofmeasure.org"
_FILE: Final = Path(__file__).resolve().parent.parent / "definitions" / "ucum.json"
_TABLE: Final[dict[str, Any]] = json.loads(_FILE.read_bytes())
_UNITS: Final = frozenset(
    [
        *_TABLE["others"],
        *_TABLE["metric"],
        *(prefix + unit for prefix in _TABLE["prefixes"] for unit in _TABLE["metric"]),
    ]
)
_DIVISION: Final = "/"
_LONGEST_KEPT: Final = 64  # characters; nearly all codes are shorter than ten

_TOKEN: Final = re.compile(
    r"(?P<operator>[./])"
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    r"|(?P<note>\{[!-z|~]*\})"
    r"|(?P<unit>(?:[^./(){}\[\]]|\[[^\[\]]*\])+)"
)
_POWER: Final = re.compile(r"(?P<unit>.*?[^0-9+\-])(?:[+\-]?[1-9][0-9]*)?")
_FACTOR: Final = re.compile(r"[1-9][0-9]*")

# What may follow what; "start" is also after an opening bracket, "done" after a component that nothing may be added to.
_NEXT: Final = {
    "start": {"operator": "operator", "open": "start", "note": "note", "unit": "unit"},
    "operator": {"open": "start", "note": "note", "unit": "unit"},
    "unit": {"operator": "operator", "close": "close", "note": "done"},
    "close": {"operator": "operator", "close": "close", "note": "done"},
    "note": {"operator": "operator", "close": "close", "note": "done"},
    "done": {"operator": "operator", "close": "close"},
}
_ENDS: Final = frozenset({"unit", "close", "note", "done"})


def is_code(text: str) -> bool:
    """Whether a text is a code of UCUM."""
    return _is_kept_code(text) if len(text) <= _LONGEST_KEPT else _is_code(text)


def _is_code(text: str) -> bool:
    position, state, depth = 0, "start", 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        kind = token.lastgroup or "" if token else ""
        state = _NEXT[state].get(kind, "")
        depth += (kind == "open") - (kind == "close")
        if token is None or not state or depth < 0 or not _is_in_place(kind, token[0], position, text):
            return False
        position = token.end()
    return state in _ENDS and depth == 0


def _is_in_place(kind: str, token: str, position: int, text: str) -> bool:
    """Whether a unit is known, and an operator that nothing stands before is a division."""
    if kind == "unit":
        return _is_unit(token)
    is_first = position == 0 or text[position - 1] == "("
    return kind != "operator" or token == _DIVISION or not is_first


def _is_unit(text: str) -> bool:
    """Whether this is a factor, or a unit with or without prefix and exponent."""
    if text in _UNITS or _FACTOR.fullmatch(text):
        return True
    match = _POWER.fullmatch(text)
    return match is not None and match["unit"] in _UNITS


_is_kept_code = lru_cache(maxsize=4096)(_is_code)

__all__ = ["SYSTEM", "is_code"]
