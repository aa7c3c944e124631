"""HTTP of an endpoint's figures."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.filters import check_names
from api.listing import InvalidPage, positive
from api.operations import Operation
from core import clock
from core.errors import FieldError, InvalidFields, NotFound
from webhooks import states
from webhooks.parts import READ, EndpointPart

from . import shapes

LONGEST_HOURS = 720

_WHOLE = {"type": "integer"}
_MAYBE_WHOLE = {"type": ["integer", "null"]}
_MAYBE_INSTANT = {"type": ["string", "null"], "format": "date-time"}
_FIGURES: dict[str, Any] = {
    "attempts": {**_WHOLE, "description": "Requests that were sent."},
    "delivered": {**_WHOLE, "description": "Those answered with 2xx."},
    "failed": {**_WHOLE, "description": "Deliveries that were given up."},
    "success_ratio": {"type": ["number", "null"], "description": "delivered / attempts; null without attempts."},
    "p50_ms": {**_MAYBE_WHOLE, "description": "Half of the attempts took less than this, in steps."},
    "p95_ms": _MAYBE_WHOLE,
}
_EXAMPLE_FIGURES = {
    "attempts": 120,
    "delivered": 119,
    "failed": 0,
    "success_ratio": 0.9917,
    "p50_ms": 60,
    "p95_ms": 250,
}
_ANSWER = {
    "title": "WebhookStats",
    "type": "object",
    "required": ["hours", "totals", "by_hour", "backlog", "health"],
    "properties": {
        "hours": _WHOLE,
        "totals": {"type": "object", "properties": _FIGURES},
        "by_hour": {
            "type": "array",
            "description": "Oldest first; hours without an attempt are left out.",
            "items": {"type": "object", "properties": {"hour": {"type": "string", "format": "date-time"}, **_FIGURES}},
        },
        "backlog": {
            "type": "object",
            "properties": {
                "waiting": {**_WHOLE, "description": "Deliveries that are queued, due now or later."},
                "due": {**_WHOLE, "description": "Those due now."},
                "oldest_due_seconds": {**_MAYBE_WHOLE, "description": "For how long the oldest of those has been due."},
            },
        },
        "health": {
            "type": "object",
            "properties": {
                "active": {"type": "boolean"},
                "consecutive_failures": _WHOLE,
                "failing_since": _MAYBE_INSTANT,
                "circuit_state": {"type": "string", "x-extensible-enum": list(states.CIRCUIT)},
                "circuit_until": _MAYBE_INSTANT,
                "paused_until": _MAYBE_INSTANT,
            },
        },
    },
    "examples": [
        {
            "hours": 24,
            "totals": _EXAMPLE_FIGURES,
            "by_hour": [{"hour": "2026-01-01T12:00:00.000Z", **_EXAMPLE_FIGURES}],
            "backlog": {"waiting": 2, "due": 0, "oldest_due_seconds": None},
            "health": {
                "active": True,
                "consecutive_failures": 0,
                "failing_since": None,
                "circuit_state": "closed",
                "circuit_until": None,
                "paused_until": None,
            },
        }
    ],
}


class FiguresViewSet(EndpointPart):
    """The figures of one endpoint."""

    operation_ids = {"stats": "getWebhookStats"}

    operations: ClassVar[dict[str, Operation]] = {
        "stats": Operation(
            scope=READ,
            summary="Read an endpoint's figures: success, latency, backlog, health",
            description="Figures are kept by the hour as they come about, so reading them costs the same however much was sent.",
            answer=_ANSWER,
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

    def stats(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The figures, also of a deleted endpoint."""
        asked: dict[str, int] = {}

        def calls(tenant_id: UUID) -> Any:
            check_names(request.GET, ("hours",))
            asked["hours"] = _hours(request.GET.get("hours"))
            return shapes.calls(tenant_id, pk, at=clock.now(), **asked)

        _, (endpoint, hours) = self.read(calls)
        if not len(endpoint):
            raise NotFound("No such webhook endpoint.")
        return self.answer(shapes.write(endpoint, hours, **asked))


def _hours(text: str | None) -> int:
    """Read `hours`.

    :raises InvalidPage: not a positive integer.
    :raises InvalidFields: more than thirty days.
    """
    hours = positive(text, 24)
    if hours > LONGEST_HOURS:
        raise InvalidFields(errors=[FieldError("hours", "max_value", f"At most {LONGEST_HOURS} hours.")])
    return hours
