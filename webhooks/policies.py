"""Who may have what delivered."""

from collections.abc import Collection
from typing import ClassVar

from core.actor import Actor
from core.errors import Forbidden
from ledger import public as ledger

from . import patterns


class FullPayloadForbidden(Forbidden):
    extensions = {"required": ["catalog.read"]}
    """Full payloads hold what only the reader of those resources may see."""

    code: ClassVar[str] = "insufficient_scope"
    title: ClassVar[str] = "Full payloads need the scope to read the resources they hold."


def may_have_full(actor: Actor, wanted: Collection[str]) -> None:
    """Hold the patterns of an endpoint with full payloads against the caller's scopes.

    :raises FullPayloadForbidden: one is missing; `required` lists all that are needed.
    """
    needed = sorted(full_scopes(wanted))
    if not all(actor.may(scope) for scope in needed):
        challenge = f'Bearer error="insufficient_scope", scope="{" ".join(needed)}"'
        raise FullPayloadForbidden(headers={"WWW-Authenticate": challenge}, required=needed)


def full_scopes(wanted: Collection[str]) -> set[str]:
    """The scopes that read every resource which full payloads of these patterns can hold."""
    return {
        found.scope
        for event_type in ledger.catalogue()
        if any(patterns.matches(pattern, event_type) for pattern in wanted)
        and (found := ledger.representation_of(event_type)) is not None
    }
