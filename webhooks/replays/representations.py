"""Replays as clients read them."""

from api.representations import Representation
from webhooks import states
from webhooks.models import Replay


class WebhookReplayOut(Representation):
    """A stretch of the past that is sent again, and how far that has come."""

    class Meta:
        model = Replay
        version = None
        fields = (
            "id", "endpoint_id", "state", "only", "since", "until", "types", "examined", "queued", "requested_by",
            "error", "created_at", "started_at", "finished_at",
        )  # fmt: skip
        blank_as_null = ("error",)
        extra_kwargs = {
            "types": {"help_text": "Empty is every type."},
            "examined": {"help_text": "How many events or deliveries were looked at so far."},
            "queued": {"help_text": "How many of them were queued so far."},
        }
        example = {
            "state": states.RUNNING,
            "only": "missing",
            "since": "2026-01-01T00:00:00.000Z",
            "until": "2026-01-02T00:00:00.000Z",
            "types": ["product.*"],
            "examined": 12000,
            "queued": 340,
            "requested_by": "key:0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b95",
            "finished_at": None,
        }
