"""What `$meta-add` and `$meta-delete` do to a resource. Source: R4 resource-operation-meta-add.html, -meta-delete.html."""

from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Any, Final

from fhir_api.resources import Json

from .refusals import InvalidPatch

Identity = Callable[[Any], Hashable]


class MetaChange(StrEnum):
    """The two operations that change a resource's labels."""

    ADD = "$meta-add"
    DELETE = "$meta-delete"


def _coded(label: Any) -> Hashable:
    """The system and code: which label it is, whatever its version and display."""
    if not isinstance(label, dict):
        raise InvalidPatch("A tag or security label is a Coding.")
    return str(label.get("system")), str(label.get("code"))


def _whole(profile: Any) -> Hashable:
    if not isinstance(profile, str):
        raise InvalidPatch("A profile is an address.")
    return profile


SETS: Final[dict[str, Identity]] = {"profile": _whole, "security": _coded, "tag": _coded}


def apply_meta(change: MetaChange, given: Json, resource: Json) -> Json:
    """The resource with the profiles, security labels and tags added or taken away; each is a set.

    :raises InvalidPatch: one of them is not of its form.
    """
    meta = dict(resource.get("meta") or {})
    for name, identity in SETS.items():
        wanted = _labels(given, name)
        if not wanted:
            continue
        before = list(meta.get(name, ()))
        known = {identity(one) for one in (before if change is MetaChange.ADD else wanted)}
        if change is MetaChange.ADD:
            meta[name] = before + [one for one in _once(wanted, identity) if identity(one) not in known]
        elif name in meta:
            meta[name] = [one for one in before if identity(one) not in known]
            if not meta[name]:
                del meta[name]
    return {**resource, "meta": meta}


def _once(labels: list[Any], identity: Identity) -> list[Any]:
    return list({identity(one): one for one in reversed(labels)}.values())[::-1]


def _labels(given: Json, name: str) -> list[Any]:
    found = given.get(name, [])
    if not isinstance(found, list):
        raise InvalidPatch(f"meta.{name} is a list.")
    return found
