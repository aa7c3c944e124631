"""Base of views over global tables, whose rows are read as far as the caller's memberships reach."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from api.views import ApiViewSet
from organizations.queries.reachable import Reach


class ReachViewSet(ApiViewSet):
    """Reads bind no tenant: a subclass narrows them by `restrictions`, with the conditions of `reach`."""

    def reach(self) -> Reach:
        """What the memberships reach in which the caller may run this operation.

        :raises Forbidden: there is none.
        """
        return Reach.of(self.actors_in_reach())

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the rows within reach."""
        return self.list_page(bound=False)

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one row within reach."""
        return self.retrieve_one(bound=False)
