"""Filters whose choices are known beforehand: none of them reads the history to find out what there is."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ledger import public as ledger
from organizations.staff import acting_tenant
from webhooks import states
from webhooks.models import Endpoint


class _Known(admin.SimpleListFilter):
    """One column, compared with one of some known words."""

    column = ""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen ones."""
        chosen = self.value()
        allowed = {str(value) for value, _ in self.lookup_choices}
        if chosen is None:
            return queryset
        return queryset.filter(**{self.column: chosen}) if chosen in allowed else queryset.none()


class StateFilter(_Known):
    """By state."""

    title = "state"
    parameter_name = column = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """The states of a delivery."""
        return [(state, state) for state in states.ALL]


class ReplayStateFilter(StateFilter):
    """By the state of a replay."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """The states of a replay."""
        return [(state, state) for state in states.REPLAY]


class KindFilter(_Known):
    """By the kind of event."""

    title = "event"
    parameter_name = "kind"
    column = "event_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """The catalogue."""
        return [(kind, kind) for kind in ledger.catalogue()]


class EventKindFilter(KindFilter):
    """By the kind, in the log itself."""

    column = "type"


class EndpointFilter(_Known):
    """By endpoint; a tenant has a hundred at most, and some deleted ones."""

    title = "endpoint"
    parameter_name = "endpoint"
    column = "endpoint_id"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """The acting tenant's endpoints."""
        chosen = acting_tenant.current(request)
        if chosen is None:
            return []
        rows = Endpoint.objects.filter(tenant_id=chosen.tenant_id).order_by("-created_at", "-id")[:200]
        return [(str(key), f"{url[:60]}") for key, url in rows.values_list("id", "url")]
