"""Filters of the list of API keys."""

from typing import Any

import django_filters

from api.filters import Condition, Filters
from organizations.models import ApiKey

# A key that ran out counts as expired at once, not only when the sweep has written it.
EFFECTIVE_STATUS = f"CASE WHEN t.status IN ('active', 'rotating') AND NOT {ApiKey.VALIDITY.holds_now('t')} THEN 'expired' ELSE t.status END"


class ApiKeyFilters(Filters):
    """Keys of the tenant."""

    status = django_filters.ChoiceFilter(choices=ApiKey.Status.choices)
    environment = django_filters.ChoiceFilter(choices=ApiKey.Environment.choices)
    partner = django_filters.CharFilter(max_length=200)
    role = django_filters.CharFilter(max_length=60)

    class Meta:
        model = ApiKey
        fields: tuple[str, ...] = ()

    def condition_status(self, value: Any) -> Condition:
        """The state as it is shown."""
        return Condition(f"({EFFECTIVE_STATUS}) = {{0}}", (str(value),))

    def condition_role(self, value: Any) -> Condition:
        """One of the roles of a key."""
        return Condition('{0} = ANY(t."roles")', (str(value),))
