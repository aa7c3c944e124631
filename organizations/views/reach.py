"""Base of viewsets over global tables, whose rows are limited to the reach of the caller's memberships."""

from api.views import ApiViewSet
from organizations.queries.reachable import Reach


class ReachViewSet(ApiViewSet):
    """Base whose reads bind no tenant; a subclass limits them by `restrictions` with the conditions of `reach`."""

    binds_tenant = False

    def reach(self) -> Reach:
        """Return the reach of the memberships in which the caller may run this operation.

        :raises Forbidden: there is no such membership.
        """
        return Reach.of(self.actors_in_reach())
