"""`_elements`: which elements of the resources are exported. Source: Bulk Data Access IG 2.0.0, export.html, "Query Parameters"."""

from collections.abc import Iterable, Sequence

from fhir_api.elements import members
from fhir_api.resources.types import NUMBERS
from fhir_api.search.control import Control
from fhir_api.search.subsets import subset

from .refusals import InvalidExport


def read_elements(values: Iterable[str]) -> tuple[str, ...]:
    """The elements as `Type.element` or `element`, each once; `value` stands for `valueQuantity` and its like.

    :raises InvalidExport: one is no element of a resource's first level, of the named type or of any.
    """
    parts = [part.strip() for value in values for part in value.split(",") if part.strip()]
    return tuple(dict.fromkeys(map(_element, parts)))


def shown(body: bytes, elements: Sequence[str]) -> bytes:
    """A resource's line: its bytes as they are or, where elements are chosen, these and the mandatory ones, tagged."""
    return subset(body, Control(elements=list(elements))) if elements else body


def _element(text: str) -> str:
    head, dot, rest = text.removesuffix("[x]").rpartition(".")
    found = (_of_type(name, rest) for name in ([head] if dot else NUMBERS))
    if not (element := next(filter(None, found), "")):
        text = f"_elements takes elements of the first level as Type.element or element; '{text[:80]}' is none."
        raise InvalidExport(text, issue_type="value")
    return f"{head}{dot}{element}"


def _of_type(type_name: str, name: str) -> str:
    known = members(type_name) if type_name in NUMBERS else None
    if known is None or name in known.choices:
        return name if known else ""
    element = known.elements.get(name)
    return (element.choice or name) if element else ""
