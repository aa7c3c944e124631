"""Filters of the list of API keys."""

from typing import Any

import django_filters

from api.filters import Condition, Filters
from organizations.models import ApiKey

# An expired key is shown as such at once, also before the task has written its status.
EFFECTIVE_STATUS = f"CASE WHEN t.status IN ('active', 'rotating') AND NOT {ApiKey.VALIDITY.holds_now('t')} THEN 'expired' ELSE t.status END"


class ApiKeyFilters(Filters):
    """Filters of the tenant's API keys."""

    status = django_filters.ChoiceFilter(choices=ApiKey.Status.choices)
    environment = django_filters.ChoiceFilter(choices=ApiKey.Environment.choices)
    partner = django_filters.CharFilter(max_length=200)
    role = django_filters.CharFilter(max_length=60)

    class Meta:
        model = ApiKey
        fields: tuple[str, ...] = ()

    def condition_status(self, value: Any) -> Condition:
        """Compare the status as it is shown, not as it is stored."""
        return Condition(f"({EFFECTIVE_STATUS}) = {{0}}", (str(value),))

    def condition_role(self, value: Any) -> Condition:
        """Match keys that have the role."""
        return Condition('{0} = ANY(t."roles")', (str(value),))
