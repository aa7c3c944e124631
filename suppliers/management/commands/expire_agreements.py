"""`manage.py expire_agreements`: does at once what the periodic task does by itself."""

from typing import Any

from django.core.management.base import BaseCommand

from core import clock
from suppliers.agreements.sweeping import expire_agreements


class Command(BaseCommand):
    """End the price agreements whose last day is over, and tell of those that end within 30 days."""

    help = (
        "End the price agreements whose validity or notice is over by the date at their supplier, and tell both parties of those"
        " that end within 30 days. The task suppliers.expire_agreements does so every minute; both are safe to run at once."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do all that is due, and say how much."""
        done = expire_agreements(at=clock.now())
        self.stdout.write(f"{done} agreements ended or told of.")
