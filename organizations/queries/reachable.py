"""The tenants and organizations that memberships reach; an organization administrator reaches the whole subtree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from core.actor import Actor
from core.arrays import array_literal
from organizations.models import Membership, Organization, Tenant

from .tree import ORGANIZATIONS

SUBTREE_SCOPE = "organizations.write"

_WITHIN = ORGANIZATIONS.within("n.id = ANY({0}::uuid[])")
_REACHED_ORGANIZATIONS = f'(t."id" = ANY({{1}}::uuid[]) OR t."id" IN {_WITHIN})'
_REACHED_TENANTS = f'(t."id" = ANY({{1}}::uuid[]) OR t."organization_id" IN {_WITHIN})'


@dataclass(frozen=True, slots=True)
class Reach:
    """The tenants and organizations of some memberships; of `roots` the whole subtree is in reach."""

    tenant_ids: tuple[UUID, ...]
    organization_ids: tuple[UUID, ...]
    roots: tuple[UUID, ...]

    @classmethod
    def of(cls, actors: Iterable[Actor]) -> "Reach":
        """Combine the reach of all actors of one subject."""
        found = list(actors)
        homes = {actor: actor.organization_id for actor in found if actor.organization_id is not None}
        return cls(
            tenant_ids=tuple(actor.tenant_id for actor in found),
            organization_ids=tuple(dict.fromkeys(homes.values())),
            roots=tuple(dict.fromkeys(home for actor, home in homes.items() if actor.may(SUBTREE_SCOPE))),
        )

    def organizations(self) -> tuple[str, tuple[str, str]]:
        """Return the condition on the table of organizations, with its parameters."""
        return _REACHED_ORGANIZATIONS, (array_literal(self.roots), array_literal(self.organization_ids))

    def tenants(self) -> tuple[str, tuple[str, str]]:
        """Return the condition on the table of tenants, with its parameters."""
        return _REACHED_TENANTS, (array_literal(self.roots), array_literal(self.tenant_ids))

    def holds_organization(self, organization_id: UUID) -> bool:
        """Tell whether the organization is within reach."""
        return _holds(Organization, self.organizations(), organization_id)

    def holds_tenant(self, tenant_id: UUID) -> bool:
        """Tell whether the tenant is within reach."""
        return _holds(Tenant, self.tenants(), tenant_id)


def memberships_of(actors: Sequence[Actor]) -> list[tuple[Actor, Membership]]:
    """List the membership of each actor, with its tenant, the oldest first."""
    rows = Membership.objects.select_related("tenant").filter(
        Q(id__in=[actor.membership_id for actor in actors]), ~Q(tenant__status=Tenant.Status.CLOSED)
    )
    by_id = {actor.membership_id: actor for actor in actors}
    return [(by_id[row.id], row) for row in rows.order_by("created_at", "id")]


def _holds(model: type[Organization] | type[Tenant], condition: tuple[str, tuple[str, str]], key: UUID) -> bool:
    marks = condition[0].format("%(roots)s", "%(own)s")
    values: dict[str, str | UUID] = {"roots": condition[1][0], "own": condition[1][1], "key": key}
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT EXISTS (SELECT 1 FROM "{model._meta.db_table}" t WHERE t.id = %(key)s AND {marks})', values
        )
        found: tuple[bool] | Any = cursor.fetchone()
    return bool(found[0])
