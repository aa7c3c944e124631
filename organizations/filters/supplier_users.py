"""Filters of the list of a supplier's users."""

from typing import Any

import django_filters

from api.filters import Condition, Filters
from organizations.models import Membership


class SupplierUserFilters(Filters):
    """Filters of a supplier's users; a person's whole e-mail address, a role, a state."""

    status = django_filters.ChoiceFilter(choices=Membership.Status.choices)
    role = django_filters.CharFilter(max_length=60)
    email = django_filters.CharFilter(max_length=254)

    class Meta:
        model = Membership
        fields: tuple[str, ...] = ()

    def condition_role(self, value: Any) -> Condition:
        """Match users that have the role."""
        return Condition('{0} = ANY(t."roles")', (str(value),))

    def condition_email(self, value: Any) -> Condition:
        """Match the whole e-mail address, without regard to case."""
        found = "SELECT u.id FROM organizations_user u WHERE u.email = lower({0})"
        return Condition(f't."user_id" IN ({found})', (str(value),))
