"""Refusals that the tables of webhooks declare for their unique keys."""

from typing import ClassVar

from core.errors import Conflict


class ReplayInProgress(Conflict):
    """The endpoint has a replay that has not ended."""

    code: ClassVar[str] = "replay_in_progress"
    title: ClassVar[str] = "The endpoint has an open replay; wait for its end or cancel it."
    extensions: ClassVar = {"replay_id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b94"}
