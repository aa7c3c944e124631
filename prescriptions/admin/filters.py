"""Filters of the lists; none of them reads the history to find out what there is."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, NamedTuple
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from core.clock import now
from core.ids import parse_uuid
from core.pipeline import Call, Statement, run
from organizations.staff import acting_tenant
from prescriptions.lifecycle.models import Prescription
from prescriptions.recurring.models import RecurringTreatment
from prescriptions.states import Status

from .stuck import moment_of, troubles_of

MOST_PLACES: Final = 200


class _Named(NamedTuple):
    id: UUID
    name: str


_PLACES: Final = Statement.of(
    f"SELECT l.id, l.name FROM organizations_location l WHERE l.tenant_id = $1 ORDER BY l.name, l.id LIMIT {MOST_PLACES}",
    row=_Named,
)


def places_of_tenant(tenant_id: UUID) -> dict[UUID, str]:
    """Return the names of the bound tenant's locations."""
    (rows,) = run([Call(_PLACES, [str(tenant_id)])])
    return {one.id: one.name for one in rows.of(_Named)}


class PlaceFilter(admin.SimpleListFilter):
    """By the location at which it was prescribed."""

    title = "location"
    parameter_name = "place"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the acting tenant's locations."""
        chosen = acting_tenant.current(request)
        return [(str(key), name) for key, name in places_of_tenant(chosen.tenant_id).items()] if chosen else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep what was prescribed there."""
        if self.value() is None:
            return queryset
        key = parse_uuid(str(self.value()))
        return queryset.filter(location_id=key) if key else queryset.none()


class KnownFilter(admin.SimpleListFilter):
    """One column, compared with one of some known words."""

    field: ClassVar[str]
    words: ClassVar[Sequence[str]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the words."""
        return [(word, word) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen ones."""
        chosen = self.value()
        if chosen is None:
            return queryset
        return queryset.filter(**{self.field: chosen}) if chosen in self.words else queryset.none()


class ExpiredFilter(admin.SimpleListFilter):
    """Open prescriptions whose last day is over, or all others."""

    title = "expired"
    parameter_name = "expired"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the choices."""
        return (("yes", "Expired"), ("no", "Not expired"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen ones."""
        over = Q(status__in=[Status.SIGNED.value, Status.ROUTED.value], expires_at__lte=now())
        kept = {None: queryset, "yes": queryset.filter(over), "no": queryset.exclude(over)}
        return kept.get(self.value(), queryset.none())


class _StuckFilter(admin.SimpleListFilter):
    """By the way in which a row is stuck."""

    title = "stuck"
    parameter_name = "stuck"
    model: ClassVar[type[Any]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the ways."""
        return [(one.name, one.title) for one in troubles_of(self.model).values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep those that are stuck so."""
        chosen = acting_tenant.current(request)
        if self.value() is None or chosen is None:
            return queryset
        trouble = troubles_of(self.model).get(str(self.value()))
        if trouble is None:
            return queryset.none()
        return queryset.filter(pk__in=trouble.rows(moment_of(chosen.tenant_id, now())).values("pk"))


class StuckPrescriptions(_StuckFilter):
    """Prescriptions that are stuck."""

    model = Prescription


class StuckTreatments(_StuckFilter):
    """Recurring treatments that are stuck."""

    model = RecurringTreatment
