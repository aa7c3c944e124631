"""HTTP of an endpoint's figures."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.filters import check_names
from api.operations import Operation
from api.page_numbers import InvalidPage, positive
from core import clock
from core.errors import FieldError, InvalidFields, NotFound
from webhooks.parts import WebhookViewSet

from . import representations
from .representations import WebhookStatsOut

LONGEST_HOURS = 720


class FiguresViewSet(WebhookViewSet):
    """The figures of one endpoint."""

    singleton = True
    operations = {
        "retrieve": Operation(
            "Get an endpoint's figures: success, latency, backlog, health",
            "Figures are kept by the hour as they come about, so reading them costs the same however much was sent.",
            answer=WebhookStatsOut,
            errors=(InvalidPage, InvalidFields),
            parameters=(
                {
                    "name": "hours",
                    "in": "query",
                    "description": "How many hours back, the current one included.",
                    "schema": {"type": "integer", "minimum": 1, "maximum": LONGEST_HOURS, "default": 24},
                },
            ),
        ),
    }

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer the figures, also of a deleted endpoint."""
        asked: dict[str, int] = {}

        def calls(tenant_id: UUID) -> Any:
            check_names(request.GET, ("hours",))
            asked["hours"] = _hours(request.GET.get("hours"))
            return representations.calls(tenant_id, pk, at=clock.now(), **asked)

        _, (endpoint, hours) = self.read(calls)
        if not len(endpoint):
            raise NotFound("No such webhook endpoint.")
        return self.answer(representations.write(endpoint, hours, **asked))


def _hours(text: str | None) -> int:
    """Read `hours`.

    :raises InvalidPage: not a positive integer.
    :raises InvalidFields: more than thirty days.
    """
    hours = positive(text, 24)
    if hours > LONGEST_HOURS:
        raise InvalidFields(errors=[FieldError("hours", "max_value", f"At most {LONGEST_HOURS} hours.")])
    return hours
