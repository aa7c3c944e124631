"""The registered event types, their subscribers, and the representations of their resources."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar
from uuid import UUID

from core.pipeline import Call

if TYPE_CHECKING:
    from ledger.models import Event

Handler = Callable[["Event"], None]
InsideHandler = Callable[[list["Fact"]], Iterable[Call] | None]
Reaction = Callable[[list["Fact"]], None]
Kind = TypeVar("Kind", bound="type[EventType]")

DATA_CLASSES = ("none", "personal", "phi")
_NAME = re.compile(r"[a-z][a-z_]*\.[a-z][a-z_]*|fhir\.[A-Za-z]+\.[a-z]+")


@dataclasses.dataclass(frozen=True)
class EventType:
    """Base of the frozen dataclasses in every app's `events.py`; the fields are the payload, without personal data.

    `data_class` says what data the resource behind `href` holds: `none`, `personal` (of staff), `phi` (of patients).
    `href` is an address that contains `{id}` or a field of the payload. A text field may have an example for the
    catalogue: `field(metadata={"example": "Patient/{id}"})`.
    `figures` names fields that only the ledger keeps, for statistics: amounts and prices, which no webhook tells.
    `muted_by` names a field of the payload; where it is false, the event stands in the log of events and goes to no endpoint.
    """

    type: ClassVar[str]
    version: ClassVar[int] = 1
    resource: ClassVar[str]
    href: ClassVar[str] = ""
    data_class: ClassVar[str] = "none"
    figures: ClassVar[tuple[str, ...]] = ()
    muted_by: ClassVar[str] = ""

    def payload(self) -> dict[str, Any]:
        """Return the fields, but for the figures, as JSON values."""
        found = dict(vars(self))
        for name in self.figures:
            del found[name]
        return found

    def measured(self) -> dict[str, Any] | None:
        """Return the figures as JSON values; None for a type that has none."""
        return {name: getattr(self, name) for name in self.figures} or None

    @classmethod
    def payload_fields(cls) -> Iterator[dataclasses.Field[Any]]:
        """Yield the fields of the payload, which the catalogue describes."""
        return (one for one in dataclasses.fields(cls) if one.name not in cls.figures)


class Fact(NamedTuple):
    """An event while it is being recorded; the fields are the columns of `ledger_event`, in their order."""

    id: UUID
    tenant_id: UUID
    type: str
    version: int
    resource_type: str
    resource_id: UUID
    resource_version: int | None
    data: dict[str, Any]
    subject_id: UUID
    subject_kind: str
    credential: str
    membership_id: UUID | None
    request_id: str
    occurred_at: datetime
    figures: dict[str, Any] | None = None


class Representation(NamedTuple):
    """The JSON of a resource as the API answers it: the scope needed to read it, and its SQL ($1 id, $2 tenant)."""

    scope: str
    sql: str


_representations: dict[str, Representation] = {}
_kinds: dict[str, type[EventType]] = {}
_inside: list[tuple[frozenset[str] | None, InsideHandler]] = []
_reactions: list[tuple[frozenset[str], Reaction]] = []
_after: dict[str, "_Follower"] = {}


class _Follower(NamedTuple):
    """Who is called after the commit: with events of which types, and with which of them."""

    types: frozenset[str] | None
    handler: Handler
    measured: bool
    concerned: Callable[["Fact"], bool] | None


def register(kind: Kind) -> Kind:
    """Add an event type to the catalogue.

    :raises ValueError: the name is not `resource.past_tense`, or is taken, or the data class or a figure is unknown.
    """
    if unknown := set(kind.figures) - {one.name for one in dataclasses.fields(kind)}:
        raise ValueError(f"figures that are no fields: {', '.join(sorted(unknown))}")
    if kind.data_class not in DATA_CLASSES:
        raise ValueError(f"not a data class: {kind.data_class}")
    if not _NAME.fullmatch(kind.type):
        raise ValueError(f"not an event name: {kind.type}")
    if _kinds.get(kind.type, kind).__qualname__ != kind.__qualname__:
        raise ValueError(f"two event types are named {kind.type}")
    _kinds[kind.type] = kind
    return kind


def catalogue() -> dict[str, type[EventType]]:
    """Return all registered event types by name."""
    return dict(sorted(_kinds.items()))


def represent(resource: str, *, scope: str, sql: str) -> None:
    """Register the representation of a type of resource, for events that carry more than the thin payload."""
    _representations[resource] = Representation(scope, sql)


def representation_of(kind: str) -> Representation | None:
    """Return the representation of an event type's resource; None if none is registered or it holds patients' data."""
    found = _kinds[kind]
    return None if found.data_class == "phi" else _representations.get(found.resource)


def is_muted(fact: Fact) -> bool:
    """Tell whether a fact goes to no webhook endpoint, since its tenant has settled so."""
    found = _kinds[fact.type].muted_by
    return bool(found) and not fact.data[found]


def is_registered(kind: str) -> bool:
    """Tell whether an event type of this name is registered."""
    return kind in _kinds


def href_of(kind: str) -> str:
    """Return the address pattern of a registered event type's resource; "" if it cannot be fetched."""
    return _kinds[kind].href


def subscribe(handler: InsideHandler, types: Iterable[str] | None = None) -> None:
    """Register a handler that is called with the facts of these types (None: all) in the transaction that records them.

    The statements that it returns run directly after the inserts of the facts, in the same round trip.
    """
    _inside.append((frozenset(types) if types is not None else None, handler))


def react(types: Iterable[str], handler: Reaction) -> None:
    """Register a handler that runs directly behind the trip that records facts of these types, in its transaction.

    The handler is called with the facts of one tenant, to which the transaction is bound. What it records comes after
    these facts in the sequence of each resource.
    """
    _reactions.append((frozenset(types), handler))


def after_commit(
    name: str,
    types: Iterable[str] | None = None,
    *,
    measured: bool = False,
    concerned: Callable[[Fact], bool] | None = None,
) -> Callable[[Handler], Handler]:
    """Register a handler that the relay calls after the commit with each event of these types, at least once.

    With `measured`, only events with figures that are not blank: of a change that two tenants are told of, often one's only.
    With `concerned`, only events of which it says so: what would be called to do nothing is neither noted nor sent.
    """

    def add(handler: Handler) -> Handler:
        _after[name] = _Follower(frozenset(types) if types is not None else None, handler, measured, concerned)
        return handler

    return add


def inside_handlers(facts: Sequence[Fact]) -> Iterator[tuple[InsideHandler, list[Fact]]]:
    """Yield the handlers that take part in the recording transaction, each with the facts of its types."""
    for types, handler in _inside:
        if wanted := [fact for fact in facts if types is None or fact.type in types]:
            yield handler, wanted


def reactions(facts: Sequence[Fact]) -> Iterator[tuple[Reaction, list[Fact]]]:
    """Yield the handlers that run behind the recording of these facts, each with the facts of its types."""
    for types, handler in _reactions:
        if wanted := [fact for fact in facts if fact.type in types]:
            yield handler, wanted


def after_names(fact: Fact) -> list[str]:
    """Return the names of the after-commit subscribers of a fact."""
    return [
        name
        for name, one in _after.items()
        if (one.types is None or fact.type in one.types)
        and (not one.measured or any((fact.figures or {}).values()))
        and (one.concerned is None or one.concerned(fact))
    ]


def after_handler(name: str) -> Handler | None:
    """Return the handler of an after-commit subscriber; None if a later release removed it."""
    found = _after.get(name)
    return found.handler if found else None
