"""Delivers webhooks without Celery and Redis: `manage.py webhooks_dispatch [--forever] [--lane K …]`."""

import json
import signal
from argparse import ArgumentParser
from dataclasses import replace
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core import lanes
from webhooks import dispatcher

_WATCH_SECONDS = 30.0


class Command(BaseCommand):
    """Run one dispatcher until nothing is left, or for ever."""

    help = "Deliver due webhooks; with --forever until SIGTERM or Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--forever", action="store_true", help="keep running")
        parser.add_argument(
            "--lane", action="append", type=int, default=[], help="serve this lane only, from 0; may be repeated"
        )
        parser.add_argument("--json", action="store_true", help="print the result for machines")

    def handle(self, *args: Any, **options: Any) -> None:
        """Deliver; a signal lets what is in flight end first.

        :raises CommandError: there is no such lane.
        """
        try:
            served = lanes.chosen(options["lane"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        stopped = False

        def stop(number: int, frame: FrameType | None) -> None:
            nonlocal stopped
            stopped = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        pace = replace(dispatcher.default_pace(), watch_seconds=_WATCH_SECONDS if options["forever"] else None)

        def go_on(quiet_seconds: float) -> bool:
            return not stopped and (options["forever"] or quiet_seconds < pace.linger_seconds)

        sent = dispatcher.run(dispatcher.dispatch(go_on, pace=pace, served=served))
        self.stdout.write(json.dumps({"sent": sent}) if options["json"] else f"{sent} sent")
