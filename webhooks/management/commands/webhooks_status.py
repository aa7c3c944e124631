"""`manage.py webhooks_status`: how many deliveries wait, for how long, for whom, and how the history stands."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core import clock
from core.history.partitions import read_ranges
from webhooks.backlogs import Backlog, backlog
from webhooks.history.partitions import HISTORIES


class Command(BaseCommand):
    """Looks and changes nothing; needs neither Celery nor Redis."""

    help = "Say how many webhook deliveries wait, for how long and for whom, and how far ahead the history has ranges."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Look once.

        :raises CommandError: the database is away.
        """
        try:
            found = backlog()
            days = _days_ahead()
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).strip().splitlines()[0]}") from error
        if options["json"]:
            self.stdout.write(json.dumps(found.as_json() | {"history_days_ahead": days}, default=str))
        else:
            self.stdout.write("\n".join(_say(found, days)))


def _days_ahead() -> dict[str, int]:
    """For how many days each history has ranges ahead; 0 where rows go into the default partition."""
    at, found = clock.now(), {}
    for history in HISTORIES:
        ends = [one.upper for one in read_ranges(history.table)]
        found[history.table] = max((max(ends) - at).days, 0) if ends else 0
    return found


def _say(found: Backlog, days: dict[str, int]) -> Iterator[str]:
    yield f"events not fanned out   {found.new_events:>8}   oldest {found.new_events_seconds:.0f} s"
    yield f"deliveries queued       {found.queued:>8}"
    yield f"  due now               {found.due:>8}   oldest {found.due_seconds:.0f} s"
    yield f"  due, but held back    {found.held_back:>8}"
    yield f"  in flight             {found.in_flight:>8}"
    yield f"  a worker lost         {found.lost:>8}"
    yield f"endpoints failing       {found.endpoints_failing:>8}   resting {found.circuits_open}"
    yield f"replays open            {found.replays_open:>8}"
    yield f"history has ranges for  {min(days.values()):>8} days"
    for busy in found.busiest:
        yield (
            f"  {busy.queued:>8} for {busy.host} (attempts so far {busy.least_attempts} to {busy.most_attempts}), "
            f"endpoint {busy.endpoint_id}, tenant {busy.tenant_id}"
        )
