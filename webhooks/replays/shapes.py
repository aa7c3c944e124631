"""Replays on the wire."""

from typing import Any

import django_filters

from api import shapes
from api.filters import Filters
from api.listing import Listing
from webhooks import states
from webhooks.models import Replay

REPLAY = shapes.Shape(
    name="webhook replay",
    model=Replay,
    fields=(
        shapes.uuid("id"),
        shapes.uuid("endpoint_id"),
        shapes.choice("state", states.REPLAY),
        shapes.choice("only", states.REPLAY_ONLY),
        shapes.instant("since"),
        shapes.instant("until"),
        shapes.strings("types").described("Empty is every type."),
        shapes.integer("examined").described("How many events or deliveries were looked at so far."),
        shapes.integer("queued").described("How many of them were queued so far."),
        shapes.text("requested_by"),
        shapes.computed("error", "NULLIF(t.\"error\", '')", {"type": ["string", "null"]}),
        shapes.instant("created_at"),
        shapes.instant("started_at").nullable(),
        shapes.instant("finished_at").nullable(),
    ),
    version=None,
    example={
        "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b94",
        "endpoint_id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90",
        "state": "running",
        "only": "missing",
        "since": "2026-01-01T00:00:00.000Z",
        "until": "2026-01-02T00:00:00.000Z",
        "types": ["product.*"],
        "examined": 12000,
        "queued": 340,
        "requested_by": "key:0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b95",
        "error": None,
        "created_at": "2026-01-02T08:00:00.000Z",
        "started_at": "2026-01-02T08:00:00.200Z",
        "finished_at": None,
    },
)


class ReplayFilters(Filters):
    """By state."""

    state = django_filters.ChoiceFilter(choices=[(name, name) for name in states.REPLAY])

    class Meta:
        model = Replay
        fields: Any = []


REPLAYS = Listing(REPLAY, filters=ReplayFilters)
