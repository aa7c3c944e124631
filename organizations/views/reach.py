"""Base of views over global tables, whose rows are read as far as the caller's memberships reach."""

from api.views import ApiViewSet
from organizations.queries.reachable import Reach


class ReachViewSet(ApiViewSet):
    """Reads bind no tenant: a subclass narrows them by `restrictions`, with the conditions of `reach`."""

    binds_tenant = False

    def reach(self) -> Reach:
        """What the memberships reach in which the caller may run this operation.

        :raises Forbidden: there is none.
        """
        return Reach.of(self.actors_in_reach())
