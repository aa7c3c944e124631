"""Refusals that the tables of webhooks declare for their unique keys."""

from typing import ClassVar

from core.errors import Conflict


class ReplayInProgress(Conflict):
    """The endpoint has a replay that has not ended."""

    code: ClassVar[str] = "replay_in_progress"
    title: ClassVar[str] = "The endpoint has an open replay; wait for its end or cancel it."
