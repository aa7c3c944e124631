"""The versions of one resource for people: when and how each came about, and what differs between two."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from fhir_api.reading import read_stored
from fhir_api.resources import Json, pretty
from fhir_api.resources.types import NAMES
from fhir_api.store.models import Method, Resource, ResourceVersion

MOST: Final = 100
_SERVERS: Final = ("meta.versionId", "meta.lastUpdated")


@dataclass(frozen=True, slots=True)
class Shown:
    """One version; `body` is "" of a deletion."""

    number: int
    at: datetime
    method: Method
    body: str

    @property
    def how(self) -> str:
        """How it came about, in a word."""
        if self.method is Method.DELETE:
            return "deleted"
        return "created" if self.number == 1 else "patched" if self.method is Method.PATCH else "updated"

    @property
    def lines(self) -> str:
        """The resource in readable lines, its digits as they are."""
        return pretty(read_stored(self.body.encode())).decode() if self.body else ""


def name_of(row: Resource) -> str:
    """`Type/id`."""
    return f"{NAMES[row.type]}/{row.fhir_id}"


def versions(row: Resource) -> list[Shown]:
    """The newest versions of a resource, the current one first, at most `MOST`."""
    past = ResourceVersion.objects.filter(tenant_id=row.tenant_id, type=row.type, fhir_id=row.fhir_id)
    return [_shown(row), *map(_shown, past.order_by("-version")[: MOST - 1])]


def version(row: Resource, number: int) -> Shown | None:
    """One version of a resource; None where there is none of this number."""
    if number == row.version:
        return _shown(row)
    past = ResourceVersion.objects.filter(tenant_id=row.tenant_id, type=row.type, fhir_id=row.fhir_id, version=number)
    found = past.first()
    return _shown(found) if found else None


def differences(before: Shown | None, after: Shown) -> list[dict[str, str | None]]:
    """Each element that differs with its text before and after, None where it is not there; without what the server writes.

    Elements of lists are compared by their place.
    """
    was, now_is = _flat(before), _flat(after)
    paths = dict.fromkeys([*now_is, *was])
    return [
        {"key": path, "before": was.get(path), "after": now_is.get(path)}
        for path in paths
        if was.get(path) != now_is.get(path) and path not in _SERVERS
    ]


def _shown(row: Resource | ResourceVersion) -> Shown:
    return Shown(row.version, row.last_updated, Method(row.method), row.body or "")


def _flat(one: Shown | None) -> dict[str, str]:
    resource: Json = read_stored(one.body.encode()) if one and one.body else {}
    return dict(_leaves(resource, ""))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _leaves(member, f"{path}[{number}]")
    else:
        yield path, str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
