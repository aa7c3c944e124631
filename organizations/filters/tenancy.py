"""Filters of the lists of organizations, tenants and memberships; global tables, so any operator may use an index."""

from typing import Any

import django_filters

from api.filters import Condition, Filters
from organizations.models import Membership, Organization, Tenant
from organizations.queries.tree import MAX_DEPTH


def _name_holds(value: Any) -> Condition:
    return Condition('position(lower({0}) in lower(t."name")) > 0', (str(value),))


class OrganizationFilters(Filters):
    """Organizations within reach; `search` finds part of the name."""

    type = django_filters.ChoiceFilter(choices=Organization.Type.choices)
    status = django_filters.ChoiceFilter(choices=Organization.Status.choices)
    parent_id = django_filters.UUIDFilter()
    slug = django_filters.CharFilter(max_length=80)
    search = django_filters.CharFilter(max_length=200)

    class Meta:
        model = Organization
        fields: tuple[str, ...] = ()

    def condition_search(self, value: Any) -> Condition:
        """Part of the name, whatever its case."""
        return _name_holds(value)


class ChildFilters(Filters):
    """Organizations below one; `depth` 1 is directly below."""

    depth = django_filters.NumberFilter(
        min_value=1, max_value=MAX_DEPTH, decimal_places=0, label="levels below, 1 to 8"
    )
    type = django_filters.ChoiceFilter(choices=Organization.Type.choices)
    status = django_filters.ChoiceFilter(choices=Organization.Status.choices)

    class Meta:
        model = Organization
        fields: tuple[str, ...] = ()

    def condition_depth(self, value: Any) -> Condition:
        """The view walks the tree; here the depth only binds the cursor to it."""
        return Condition("{0}::numeric >= 1", (str(value),))


class TenantFilters(Filters):
    """Tenants within reach; `search` finds part of the name."""

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
        """One of the kinds a tenant holds."""
        return Condition('{0} = ANY(t."kinds")', (str(value),))

    def condition_search(self, value: Any) -> Condition:
        """Part of the name, whatever its case."""
        return _name_holds(value)


class MembershipFilters(Filters):
    """Members of the tenant."""

    status = django_filters.ChoiceFilter(choices=Membership.Status.choices)
    role = django_filters.CharFilter(max_length=60)
    user_id = django_filters.UUIDFilter()
    service_account_id = django_filters.UUIDFilter()
    email = django_filters.CharFilter(max_length=254)

    class Meta:
        model = Membership
        fields: tuple[str, ...] = ()

    def condition_role(self, value: Any) -> Condition:
        """One of the roles a member holds."""
        return Condition('{0} = ANY(t."roles")', (str(value),))

    def condition_email(self, value: Any) -> Condition:
        """The person's whole e-mail address."""
        found = "SELECT u.id FROM organizations_user u WHERE u.email = lower({0})"
        return Condition(f't."user_id" IN ({found})', (str(value),))
