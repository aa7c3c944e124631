"""The types of documents about which their parties write to each other. Source: contract, supply-order.md 5.

A type joins by one line: `register_document(DocumentType(name="order", kind=ORDERS, owner="buyer", title="Message about an order"))`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from django.db.models import Model

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import NotFound
from core.pipeline import Call, Statement, run
from organizations.public import PartyClosed, ReceivedKind

OWNER_SIDES: Final = ("buyer", "supplier")
_CLOSED: Final = "closed"


class Within(Protocol):
    """The rule for members who are limited to places, as `organizations.public.reach` makes it."""

    def filter(self, queryset: Any, actor: Actor) -> Any:
        """Keep the rows that the actor reaches."""


class _Party(NamedTuple):
    """A tenant that is a party, and the place of the document where its owner has one."""

    id: UUID
    status: str
    is_managed: bool
    location_id: UUID | None


@dataclass(frozen=True, eq=False, kw_only=True)
class DocumentType:
    """One type of document: its copies tell who the parties are and whether it was handed over.

    `owner` is the side that owns the rows. `location` is the owner's column of a place, "" for none; `within` is the rule
    for the owner's members who are limited to places, `within_copy` that for the other party's. `private` is the other
    party's own row by the document's id, and its column of a place, where it has any.
    """

    name: str
    kind: ReceivedKind
    owner: str
    title: str
    location: str = ""
    within: Within | None = None
    within_copy: Within | None = None
    private: tuple[type[Model], str] | None = None

    @property
    def other(self) -> str:
        """The side that holds the copy."""
        return next(one for one in OWNER_SIDES if one != self.owner)

    @cached_property
    def parties(self) -> Statement:
        """Bound to the owner $2: the tenants that are parties of document $1, the owner only once it was handed over."""
        told = f"SELECT x.tenant_id FROM ({self.kind.parties.sql.decode()}) x"
        place = "NULL::uuid"
        if self.location:
            place = _place_sql(self.kind.document, self.kind.tenant_column, self.location)
        return Statement.of(
            f"SELECT n.id, n.status, n.managed_by_id IS NOT NULL AS is_managed, {place} AS location_id FROM organizations_tenant n"
            f" WHERE n.id::text IN ({told}) OR n.id = $2 AND EXISTS ({told})",
            row=_Party,
        )

    @cached_property
    def private_place(self) -> Statement | None:
        """Bound to the other party $2: the place of document $1 that this party alone knows; None where it has none."""
        return (
            Statement.of(f"SELECT {_place_sql(self.private[0], 'tenant_id', self.private[1])}")
            if self.private
            else None
        )


def _place_sql(model: type[Model], tenant: str, column: str) -> str:
    return f'(SELECT w."{column}" FROM "{model._meta.db_table}" w WHERE w."{tenant}" = $2 AND w.id = $1)'


@dataclass(frozen=True, slots=True)
class Correspondence:
    """A document as the writer of a message sees it: the other party, and which side the writer is."""

    type: DocumentType
    id: UUID
    other_id: UUID
    by: str
    own_location_id: UUID | None
    other_location_id: UUID | None


_types: dict[str, DocumentType] = {}


def register_document(one: DocumentType) -> None:
    """Let the parties of a type of document write to each other.

    :raises ValueError: the side of the owner is unknown, or another type has the name.
    """
    if one.owner not in OWNER_SIDES or _types.get(one.name, one).kind is not one.kind:
        raise ValueError(f"not a type of document: {one.name}")
    _types[one.name] = one


def document_names() -> list[str]:
    """Return the names of all types."""
    return sorted(_types)


@needs_transaction
def correspondence(actor: Actor, name: str, document_id: UUID) -> Correspondence:
    """Find the other party of a document; the caller's tenant is bound, before and afterwards.

    :raises NotFound: the caller does not see the document, or nobody else does: it was not handed over, or its other party
        has no members.
    :raises PartyClosed: the other party's tenant is closed.
    """
    one = _types[name]
    refusal = NotFound(f"No such {one.kind.name}.")
    (located,) = run([Call(one.kind.located, [str(document_id), str(actor.tenant_id)])])
    if not len(located) or not _is_within(actor, one, document_id):
        raise refusal
    owner_id = UUID((located.value() or b"").decode())
    given = [str(document_id), str(owner_id)]
    _, found, _ = run([bind_call(owner_id), Call(one.parties, given), bind_call(actor.tenant_id)])
    parties = {party.id: party for party in found.of(_Party)}
    others = [party for key, party in parties.items() if key != actor.tenant_id]
    if actor.tenant_id not in parties or len(others) != 1 or others[0].is_managed:
        raise refusal
    (other,) = others
    if other.status == _CLOSED:
        raise PartyClosed
    is_owner = actor.tenant_id == owner_id
    theirs = _private_place(actor, one, document_id, other.id if is_owner else actor.tenant_id)
    places = (other.location_id, theirs)
    mine, of_other = places if is_owner else reversed(places)
    return Correspondence(one, document_id, other.id, one.owner if is_owner else one.other, mine, of_other)


def _private_place(actor: Actor, one: DocumentType, document_id: UUID, tenant_id: UUID) -> UUID | None:
    """Read the place that the party which does not own the document knows; the caller's tenant is bound afterwards."""
    if one.private_place is None:
        return None
    call = Call(one.private_place, [str(document_id), str(tenant_id)])
    _, found, _ = run([bind_call(tenant_id), call, bind_call(actor.tenant_id)])
    place = found.value()
    return UUID(place.decode()) if place else None


def _is_within(actor: Actor, one: DocumentType, document_id: UUID) -> bool:
    """Tell whether a member who is limited to places may see the document."""
    if not actor.location_ids:
        return True
    for rule, model in ((one.within, one.kind.document), (one.within_copy, one.kind.copy)):
        rows = model._default_manager.filter(tenant_id=actor.tenant_id, pk=document_id)
        if rule is not None and rows.exists() and not rule.filter(rows, actor).exists():
            return False
    return True
