"""Filters of the lists of organizations, tenants and memberships: global tables, where any operator may be used."""

from typing import Any

import django_filters

from api.filters import Condition, Filters
from organizations.models import Membership, Organization, Tenant
from organizations.queries.tree import MAX_DEPTH


def _name_contains(value: Any) -> Condition:
    return Condition('position(lower({0}) in lower(t."name")) > 0', (str(value),))


class OrganizationFilters(Filters):
    """Filters of organizations; `search` matches part of the name."""

    type = django_filters.ChoiceFilter(choices=Organization.Type.choices)
    status = django_filters.ChoiceFilter(choices=Organization.Status.choices)
    parent_id = django_filters.UUIDFilter()
    slug = django_filters.CharFilter(max_length=80)
    search = django_filters.CharFilter(max_length=200)

    class Meta:
        model = Organization
        fields: tuple[str, ...] = ()

    def condition_search(self, value: Any) -> Condition:
        """Match part of the name, without regard to case."""
        return _name_contains(value)


class ChildFilters(Filters):
    """Filters of the organizations below another; `depth` 1 is directly below."""

    depth = django_filters.NumberFilter(
        min_value=1, max_value=MAX_DEPTH, decimal_places=0, label="levels below, 1 to 8"
    )
    type = django_filters.ChoiceFilter(choices=Organization.Type.choices)
    status = django_filters.ChoiceFilter(choices=Organization.Status.choices)

    class Meta:
        model = Organization
        fields: tuple[str, ...] = ()

    def condition_depth(self, value: Any) -> Condition:
        """Bind the cursor to the depth; the view itself walks the tree."""
        return Condition("{0}::numeric >= 1", (str(value),))


class TenantFilters(Filters):
    """Filters of tenants; `search` matches part of the name."""

    kind = django_filters.ChoiceFilter(choices=Tenant.Kind.choices)
    status = django_filters.ChoiceFilter(choices=Tenant.Status.choices)
    environment = django_filters.ChoiceFilter(choices=Tenant.Environment.choices)
    organization_id = django_filters.UUIDFilter()
    slug = django_filters.CharFilter(max_length=80)
    search = django_filters.CharFilter(max_length=200)

    class Meta:
        model = Tenant
        fields: tuple[str, ...] = ()

    def condition_kind(self, value: Any) -> Condition:
        """Match tenants of the kind."""
        return Condition('{0} = ANY(t."kinds")', (str(value),))

    def condition_search(self, value: Any) -> Condition:
        """Match part of the name, without regard to case."""
        return _name_contains(value)


class MembershipFilters(Filters):
    """Filters of the tenant's memberships."""

    status = django_filters.ChoiceFilter(choices=Membership.Status.choices)
    role = django_filters.CharFilter(max_length=60)
    user_id = django_filters.UUIDFilter()
    service_account_id = django_filters.UUIDFilter()
    email = django_filters.CharFilter(max_length=254)

    class Meta:
        model = Membership
        fields: tuple[str, ...] = ()

    def condition_role(self, value: Any) -> Condition:
        """Match memberships that have the role."""
        return Condition('{0} = ANY(t."roles")', (str(value),))

    def condition_user_id(self, value: Any) -> Condition:
        """Match the membership of the person; one that was never accepted does not tell whose it is."""
        return Condition(f't."user_id" = {{0}} AND NOT {Membership.UNACCEPTED}', (str(value),))

    def condition_email(self, value: Any) -> Condition:
        """Match the person's whole e-mail address, without regard to case."""
        found = "SELECT u.id FROM organizations_user u WHERE u.email = lower({0})"
        return Condition(f't."user_id" IN ({found})', (str(value),))
