"""Addresses that serve both parties of a document: which side a request is for, and what that side demands.

An operation with a `supplier_scope` serves both. For one document the tenant's place in it decides; a list, and what
creates a document, ask for one side: that of the tenant's only kind, else a key asks as the supplier and a person as the
buyer, and `side` says otherwise. Source: contract, supply.md 2 "Which side is asked".
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Final
from uuid import UUID

import django_filters

from core.actor import Actor
from core.conditions import Condition
from core.errors import FieldError, Forbidden, InvalidFields
from core.pipeline import Call, Rows

from .families import CredentialKind, CredentialNotAccepted, kind_of
from .filters import Filters
from .listing import Listing, Query
from .operations import Operation
from .permissions import BUYER, BUYING_KINDS, authorize_as
from .unions import Union
from .views import ApiViewSet

SUPPLIER: Final = "supplier"
SIDES: Final = (BUYER, SUPPLIER)
_OF_SIDE: Final = {side: Condition(f"t.side = '{side}'") for side in SIDES}
SIDE_PARAMETER: Final = {
    "name": "side",
    "in": "query",
    "description": "As whom a tenant asks that is both: `buyer` unless said otherwise; a key is always the supplier's.",
    "schema": {"type": "string", "enum": [*SIDES]},
}

# By tenant and by the side that it would ask for, that of its last list; a tenant that becomes both is read twice once.
_known: dict[tuple[UUID, str], str] = {}
_KNOWN_AT_MOST: Final = 50_000


@lru_cache(maxsize=64)
def listing_of_side(listing: Listing, side: str) -> Listing:
    """Return the list of what a tenant has as one side: no table is planned in which it can have nothing."""
    shape = listing.shape
    assert isinstance(shape.rows, Union)
    return replace(listing, shape=replace(shape, rows=shape.rows.of_side(side)))


def possible_sides(actor: Actor) -> list[str]:
    """Return the sides that a tenant's kinds allow, the buyer first."""
    found = [BUYER] if BUYING_KINDS & actor.tenant_kinds else []
    return found + [SUPPLIER] * (SUPPLIER in actor.tenant_kinds)


def asked_side(actor: Actor, asked: str | None) -> str:
    """Return the side for which a list or a new document is asked.

    :raises InvalidFields: `side` is no side.
    """
    if asked is not None and asked not in SIDES:
        raise InvalidFields(errors=[FieldError("side", "invalid_choice", "Choose one of buyer, supplier.")])
    possible = possible_sides(actor)
    if len(possible) == 1:
        return possible[0]
    return asked or _usual(is_key=kind_of(actor.subject) is CredentialKind.API_KEY)


def _usual(*, is_key: bool) -> str:
    """Return the side of a tenant that is both, where nothing else is asked."""
    return SUPPLIER if is_key else BUYER


def authorize_side(operation: Operation, actor: Actor, side: str, *, feature: str) -> None:
    """Check what an operation demands of one side: scope, kind, and of the buyer a bearer token and the feature.

    :raises InsufficientScope, NotABuyer, NotASupplier, FeatureNotEnabled: as `authorize`.
    :raises CredentialNotAccepted: a key acts for the buyer.
    """
    if side == SUPPLIER:
        authorize_as(operation, actor, scope=operation.supplier_scope, kind=SUPPLIER)
        return
    if kind_of(actor.subject) is CredentialKind.API_KEY:
        raise CredentialNotAccepted("A buyer's side takes no API key; sign in for a bearer token.")
    authorize_as(operation, actor, scope=operation.scope, kind=BUYER, feature=feature)


class TwoSidedFilters(Filters):
    """Base of the filters of such lists, with `side`."""

    side = django_filters.ChoiceFilter(choices=[(one, one) for one in SIDES])

    def condition_side(self, value: str) -> Condition:
        """Hold for every row: the view reads those of the side, for which the tenant's kinds and the credential count, too."""
        return Condition("{0}::text IS NOT NULL", (value,))


class TwoSidedViewSet(ApiViewSet):
    """Base of viewsets of documents that both parties read and write at the same addresses.

    `buyer_feature` is the plan's feature that the buyer needs. `side` is that of the request, once it is known. A list reads the
    tables of the side that is `expected`; the trip says which one it is, and where that is the other, the list is read again.
    It is filtered by the other party alone, unless it `filters_by_both` parties.
    """

    buyer_feature: ClassVar[str] = ""
    filters_by_both: ClassVar[bool] = False
    side: str = ""
    expected: str = ""

    @property
    def is_key(self) -> bool:
        """Tell whether an API key asks."""
        return kind_of(self.subject) is CredentialKind.API_KEY

    def side_of(self, target: Any) -> str:
        """Return the caller's side in a target that was found."""
        raise NotImplementedError

    def read(self, calls: Callable[[UUID], Sequence[Call]]) -> tuple[Actor, list[Rows]]:
        """Run statements as any view does; those of a list for the side that the tenant turns out to be."""
        if self.action != "list":
            return super().read(calls)
        asked = self.request.GET.get("side", "")
        usual = asked if asked in SIDES else _usual(is_key=self.is_key)
        key = (self._tenant_id(), usual)
        self.expected = _known.get(key, usual)
        found = super().read(calls)
        if self.side != self.expected:
            self.expected = self.side
            found = super().read(calls)
        if len(_known) > _KNOWN_AT_MOST:
            _known.clear()
        _known[key] = self.side
        return found

    def _query(self, listing: Listing, extra: Sequence[Condition], *paging: str) -> Query:
        narrowed = [*extra, _OF_SIDE[self.expected]]  # there are tables that hold rows of either side
        return super()._query(listing_of_side(listing, self.expected), narrowed, *paging)

    def _check(self, actor: Actor) -> None:
        operation = self.operation
        if not operation.supplier_scope:
            super()._check(actor)
            return
        if self.lookup_url_kwarg in self.kwargs:
            self._check_any(actor)
            return
        self.side = asked_side(actor, self.request.GET.get("side"))
        authorize_side(operation, actor, self.side, feature=self.buyer_feature)
        if self.action == "list" and not self.filters_by_both:
            self._check_other()

    def _check_other(self) -> None:
        """Require that a list names the other party only.

        :raises InvalidFields: it filters by its own side.
        """
        own = f"{self.side}_id"
        if own in self.request.GET:
            raise InvalidFields(errors=[FieldError(own, "invalid", "Is your own side; filter by the other one.")])

    def _check_any(self, actor: Actor) -> None:
        """Refuse a caller whom no side that the tenant can have admits; the document will say which it is.

        :raises Forbidden: the refusal of the side for which the credential usually asks.
        """
        refused: dict[str, Forbidden] = {}
        possible = possible_sides(actor)
        for side in possible:
            try:
                authorize_side(self.operation, actor, side, feature=self.buyer_feature)
                return
            except Forbidden as error:
                refused[side] = error
        raise refused.get(asked_side(actor, None)) or Forbidden("The tenant has neither side.")

    def check_place(self, actor: Actor, side: str) -> None:
        """Check what the side demands that the tenant has in a document.

        :raises Forbidden: as `authorize_side`.
        """
        self.side = side
        authorize_side(self.operation, actor, side, feature=self.buyer_feature)

    def _work(self, actor: Actor, work: Any, target: Any) -> Any:
        if self.operation.supplier_scope and target is not None:
            self.check_place(actor, self.side_of(target))
        return super()._work(actor, work, target)
