"""Who and what the ids of log entries stand for, with links: looked up for a whole page at once, a query for each kind."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from core.ids import parse_uuid
from organizations.models import ApiKey, Membership, OAuthApplication, ServiceAccount, Tenant, User

from .roles import Area, sees

NOBODY = "–"


class Ids(NamedTuple):
    """The ids of one log entry; a credential is written as `key:<id>`, `client:<client_id>` or `session:<id>`."""

    subject: UUID | None = None
    credential: str = ""
    membership: UUID | None = None
    tenant: UUID | None = None


class Names:
    """The names of what is in these entries; a link leads to whatever the role of this member of staff sees."""

    def __init__(self, staff: Any, every: Sequence[Ids]) -> None:
        self.staff = staff
        subjects = {one.subject for one in every} - {None}
        kinds = [one.credential.partition(":") for one in every]
        keys = {found for kind, _, text in kinds if kind == "key" and (found := parse_uuid(text))}
        clients = {text for kind, _, text in kinds if kind == "client"}
        self.people = _by_id(User, subjects)
        self.services = _by_id(ServiceAccount, subjects - self.people.keys())
        self.keys = _by_id(ApiKey, keys)
        self.clients = OAuthApplication.objects.in_bulk(list(clients), field_name="client_id")
        self.memberships = _by_id(Membership, {one.membership for one in every} - {None}, "tenant")
        self.tenants = _by_id(Tenant, {one.tenant for one in every} - {None})

    def subject(self, ids: Ids) -> str:
        """The person's name and address, or the name of the service."""
        if ids.subject is None:
            return NOBODY
        if person := self.people.get(ids.subject):
            return self._link(Area.PEOPLE, person, f"{person.name} ({person.email})" if person.name else person.email)
        if service := self.services.get(ids.subject):
            return self._link(Area.KEYS, service, f"{service.name} (service account)")
        return str(ids.subject)

    def credential(self, ids: Ids) -> str:
        """The name of the key or client; of a session only that it was one."""
        kind, _, text = ids.credential.partition(":")
        key = self.keys.get(parse_uuid(text)) if kind == "key" else None
        if key is not None:
            return self._link(Area.KEYS, key, f"API key {key.name}")
        if client := self.clients.get(text) if kind == "client" else None:
            return self._link(Area.CLIENTS, client, f"OAuth client {client.name}")
        return "signed in" if kind == "session" else ids.credential or NOBODY

    def membership(self, ids: Ids) -> str:
        """The tenant and the roles."""
        row = self.memberships.get(ids.membership) if ids.membership else None
        if row is None:
            return str(ids.membership or NOBODY)
        return self._link(Area.MEMBERSHIPS, row, f"{row.tenant}: {', '.join(row.roles)}")

    def tenant(self, ids: Ids) -> str:
        """The tenant's name."""
        row = self.tenants.get(ids.tenant) if ids.tenant else None
        return self._link(Area.TENANTS, row, str(row)) if row else str(ids.tenant or NOBODY)

    def _link(self, area: Area, row: Model, text: str) -> str:
        if not sees(self.staff, area):
            return text
        address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
        return format_html('<a href="{}" class="text-primary-600 dark:text-primary-500">{}</a>', address, text)


def _by_id(model: Any, ids: Iterable[Any], *related: str) -> dict[Any, Any]:
    wanted = set(ids)
    return {row.pk: row for row in model._base_manager.select_related(*related).filter(pk__in=wanted)} if wanted else {}


class NamedRows:
    """For a page of staff: columns that name whom a row is about; `ids_of` says by which ids."""

    def ids_of(self, row: Any) -> Ids:
        """Return the ids of a row."""
        raise NotImplementedError

    def names(self, row: Any) -> tuple[Names, Ids]:
        """Return the names that were looked up with the row, and its ids."""
        return row.looked_up, self.ids_of(row)

    def look_up(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Look up the names of rows together."""
        found = Names(request.user, [self.ids_of(row) for row in rows])
        for row in rows:
            row.looked_up = found

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the row of a page, with its names."""
        row = super().get_object(request, *args, **kwargs)  # type: ignore[misc]
        if row is not None:
            self.look_up(request, [row])
        return row

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return a list that looks up the names of its page."""
        page, kind = self, super().get_changelist(request, **kwargs)  # type: ignore[misc]

        class NamedList(kind):  # type: ignore[misc,valid-type]
            def get_results(self, request: HttpRequest) -> None:
                super().get_results(request)
                self.result_list: list[Any] = list(self.result_list)
                page.look_up(request, self.result_list)

        return NamedList
