"""Every kind of fact the platform can record, and who wants to hear of it."""

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
Kind = TypeVar("Kind", bound="type[EventType]")

DATA_CLASSES = ("none", "personal", "phi")
_NAME = re.compile(r"[a-z][a-z_]*\.[a-z][a-z_]*|fhir\.[A-Za-z]+\.[a-z]+")


@dataclasses.dataclass(frozen=True)
class EventType:
    """Base of the frozen dataclasses in every app's `events.py`; the fields are the thin payload (no personal data).

    `data_class` is what the resource itself holds, behind its href: `none`, `personal` (of staff), `phi` (of patients).
    `href` names `{id}` or a field of the payload. A text field may tell the catalogue what it looks like:
    `field(metadata={"example": "Patient/{id}"})`.
    """

    type: ClassVar[str]
    version: ClassVar[int] = 1
    resource: ClassVar[str]
    href: ClassVar[str] = ""
    data_class: ClassVar[str] = "none"

    def payload(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return dict(vars(self))


class Fact(NamedTuple):
    """One fact while it is being recorded; the names are the columns of the ledger, in their order."""

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


class Representation(NamedTuple):
    """How a resource reads over the API: the scope that may read it, and SQL for its JSON ($1 its id, $2 its tenant)."""

    scope: str
    sql: str


_representations: dict[str, Representation] = {}
_kinds: dict[str, type[EventType]] = {}
_inside: list[tuple[frozenset[str] | None, InsideHandler]] = []
_after: dict[str, tuple[frozenset[str] | None, Handler]] = {}


def register(kind: Kind) -> Kind:
    """Add a kind of fact to the catalogue.

    :raises ValueError: the name is not `resource.past_tense`, or is taken, or the class of data is unknown.
    """
    if kind.data_class not in DATA_CLASSES:
        raise ValueError(f"not a class of data: {kind.data_class}")
    if not _NAME.fullmatch(kind.type):
        raise ValueError(f"not an event name: {kind.type}")
    if _kinds.get(kind.type, kind).__qualname__ != kind.__qualname__:
        raise ValueError(f"two kinds are called {kind.type}")
    _kinds[kind.type] = kind
    return kind


def catalogue() -> dict[str, type[EventType]]:
    """All registered kinds by name."""
    return dict(sorted(_kinds.items()))


def represent(resource: str, *, scope: str, sql: str) -> None:
    """Offer how resources of a kind read over the API, for those who want more of a fact than its thin payload."""
    _representations[resource] = Representation(scope, sql)


def representation_of(kind: str) -> Representation | None:
    """How the resource of a kind of fact reads, or None: nobody offers it, or it holds patients' data."""
    found = _kinds[kind]
    return None if found.data_class == "phi" else _representations.get(found.resource)


def is_registered(kind: str) -> bool:
    """Tell whether a name stands in the catalogue."""
    return kind in _kinds


def href_of(kind: str) -> str:
    """Where the resource of a registered kind is fetched; "" where it cannot be."""
    return _kinds[kind].href


def subscribe(handler: InsideHandler, types: Iterable[str] | None = None) -> None:
    """Call `handler(facts)` inside the transaction that records facts of these types (None: all), one or many at once.

    The statements it gives back run right behind the facts' own, in the same round trip.
    """
    _inside.append((frozenset(types) if types is not None else None, handler))


def after_commit(name: str, types: Iterable[str] | None = None) -> Callable[[Handler], Handler]:
    """Register a handler that the relay runs after the commit, at least once, bound to the fact's tenant."""

    def add(handler: Handler) -> Handler:
        _after[name] = (frozenset(types) if types is not None else None, handler)
        return handler

    return add


def inside_handlers(facts: Sequence[Fact]) -> Iterator[tuple[InsideHandler, list[Fact]]]:
    """Handlers that take part in the recording transaction, each with the facts it wants."""
    for types, handler in _inside:
        if wanted := [fact for fact in facts if types is None or fact.type in types]:
            yield handler, wanted


def after_names(kind: str) -> list[str]:
    """Names of the subscribers to be told after the commit."""
    return [name for name, (types, _) in _after.items() if types is None or kind in types]


def after_handler(name: str) -> Handler | None:
    """The handler behind a subscriber's name; None where a release dropped it."""
    found = _after.get(name)
    return found[1] if found else None
