"""`manage.py load_terminology rxnorm FOLDER`: loads a release of RxNorm as the platform's table of medications."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core import clock
from prescriptions.management.reports import faults_of, lines_of_load
from prescriptions.medications import rxnorm
from prescriptions.medications.csv_files import UnusableTable
from prescriptions.medications.loading import Target, load
from prescriptions.medications.tables import MEDICATIONS


class Command(BaseCommand):
    """Load a release of a terminology in place of the demonstration table or of an earlier release."""

    help = (
        "Load the drugs of an RxNorm release (RXNCONSO.RRF, and RXNREL.RRF for ingredients, forms and strengths) as the "
        "platform's table of medications. Classes and schedules come from the platform's file of ingredients."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("terminology", choices=["rxnorm"])
        parser.add_argument("folder", type=Path, help="the folder `rrf` of the release")
        parser.add_argument("--dry-run", action="store_true", help="tell the differences and write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load the release, and tell what came of it.

        :raises CommandError: a file is missing or is no RRF file; nothing was loaded.
        """
        folder, dry_run = options["folder"], options["dry_run"]
        try:
            rows = rxnorm.medications(folder)
            found = load(
                MEDICATIONS, rows, Target(), source=f"RxNorm, {folder.resolve().name}", at=clock.now(), dry_run=dry_run
            )
        except UnusableTable as error:
            raise CommandError(faults_of(error)) from error
        for line in lines_of_load(found, dry_run=dry_run):
            self.stdout.write(line)
