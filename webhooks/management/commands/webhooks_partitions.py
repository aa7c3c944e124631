"""`manage.py webhooks_partitions`: makes the partitions of the webhooks' history ahead of time and drops old ones."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core import clock
from core.history.partitions import Busy
from webhooks.history.upkeep import Kept, keep_history


class Command(BaseCommand):
    """Does what the hourly task does."""

    help = "Make partitions of the webhooks' history two months ahead, and drop those older than the settings say."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run once and say what was done.

        :raises CommandError: the settings make no sense, another run is under way, or the platform's login may not.
        """
        try:
            kept = keep_history(at=clock.now())
        except (Busy, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).strip().splitlines()[0]}") from error
        self.stdout.write(json.dumps(kept.as_json()) if options["json"] else _say(kept))


def _say(kept: Kept) -> str:
    lines = [
        *(f"made     {name}" for name in kept.made),
        *(f"dropped  {name}" for name in kept.dropped),
        *(f"kept     {one.partition}: {one.reason}" for one in kept.held),
        *(f"left     {count} rows in the default partition of {table}" for table, count in kept.strays.items()),
    ]
    counts = f"{len(kept.made)} made, {len(kept.dropped)} dropped, {len(kept.held)} held back"
    return "\n".join(
        [*lines, f"{counts}; {kept.settled} frozen deliveries ended, {kept.hours} hours of figures forgotten"]
    )
