"""The extensions that R4's search parameters name, with the types of values that such a parameter can find.

The definitions of extensions are not part of hl7.fhir.r4.core's given ones, so that a parameter is all that tells of them.
Source: the expressions of SearchParameter; R4 search.html, the section of each kind.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from .expressions import Field, UnknownExpression, Where, alternatives, steps
from .extraction import REAL_URLS
from .parameters import Row

# As `tokens.extension_token`, `texts.extension_string` and their like read them.
_TYPES: Final = {
    "token": ("CodeableConcept", "Coding", "Identifier", "code", "string"),
    "string": ("string", "CodeableConcept"),
    "date": ("date", "dateTime", "instant", "Period"),
    "reference": ("Reference",),
}


def written(rows: Iterable[Row]) -> bytes:
    """The file, one extension a line: its URL and the types of its value."""
    found = {url: _TYPES[row["kind"]] for row in rows if not row.get("retired") for url in _urls(row)}
    lines = [f"{json.dumps(url)}: {json.dumps(found[url])}" for url in sorted(found)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _urls(row: Row) -> Iterator[str]:
    """The extensions whose values a parameter looks at."""
    for side in alternatives(row["expression"]):
        try:
            path = steps(side)
        except UnknownExpression:  # of a composite, whose parts are parameters, too
            continue
        match path[-2:]:
            case [Field("extension"), Where("url", url)]:
                yield url
                yield REAL_URLS.get(url, url)
