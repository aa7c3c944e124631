"""`manage.py import_clinical_tables`: loads a tenant's own tables of medications from CSV files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from core import clock
from core.db import tenant_context
from organizations.public import tenant_named
from prescriptions.management.reports import faults_of, lines_of_load
from prescriptions.medications.csv_files import UnusableTable, rows_of_file
from prescriptions.medications.loading import Target, load
from prescriptions.medications.tables import TABLES, Row, Table


class Command(BaseCommand):
    """Load a tenant's own tables, which win over the platform's rows of the same key."""

    help = (
        "Load tables of medications from CSV files. Each file states its whole table and becomes the table's next version; "
        "all files are loaded, or none is. Lists in a cell are separated by `;`."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--tenant", required=True, help="slug or id")
        for table in TABLES.values():
            parser.add_argument(
                f"--{table.name.replace('_', '-')}",
                dest=table.name,
                type=Path,
                metavar="FILE",
                help=", ".join(table.columns),
            )
        parser.add_argument("--dry-run", action="store_true", help="tell the differences and write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load the files, and tell what came of it.

        :raises CommandError: there is no such tenant, no file was named, or a file has faults; nothing was loaded.
        """
        tenant_id = tenant_named(options["tenant"])
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        files: dict[str, Path] = {name: options[name] for name in TABLES if options[name] is not None}
        if not files:
            raise CommandError("Name a file: " + ", ".join(f"--{name.replace('_', '-')}" for name in TABLES) + ".")
        rows = {name: _rows(TABLES[name], path) for name, path in files.items()}
        target, dry_run, at = Target(tenant_id), options["dry_run"], clock.now()
        with transaction.atomic(), tenant_context(tenant_id):
            loads = [
                load(TABLES[name], rows[name], target, source=path.name, at=at, dry_run=dry_run)
                for name, path in files.items()
            ]
        for found in loads:
            for line in lines_of_load(found, dry_run=dry_run):
                self.stdout.write(line)


def _rows(table: Table, path: Path) -> list[Row]:
    try:
        return rows_of_file(table, path)
    except UnusableTable as error:
        raise CommandError(f"{path}: {faults_of(error)}") from error
