"""`manage.py import_catalog FILE.csv --tenant NAME`: creates and updates a supplier's products from a file."""

import csv
import json
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core.errors import PlatformError
from core.progress_bar import ProgressBar
from organizations.public import tenant_named
from suppliers.catalog.bulk.serializers import MERGE, REPLACE
from suppliers.company.queries import is_open_supplier
from suppliers.management.catalog_import import STATUSES, Fault, Import
from suppliers.management.csv_files import UnusableFile, lines_of

_SHOWN = 50


class Command(BaseCommand):
    """Import products, batch by batch, through the rules of the bulk operation."""

    help = (
        "Create and update products from a CSV file, known by their supplier_sku. Its first line names members as the API does:"
        " name, storage.min_c, packagings.0.gtin. Lines that fail are left out and told. Run it again after it was broken off or"
        " after lines were mended: what is there already is unchanged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("file", type=Path, metavar="FILE.csv")
        parser.add_argument("--tenant", required=True, help="slug or id of the supplier")
        parser.add_argument(
            "--mode", choices=(MERGE, REPLACE), default=MERGE, help="what becomes of members that the file leaves out"
        )
        parser.add_argument(
            "--errors", type=Path, metavar="FILE.csv", help="write what is wrong with lines into this file"
        )
        parser.add_argument("--dry-run", action="store_true", help="judge every line and write nothing")
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and tell what came of it.

        :raises CommandError: there is no such supplier or file, the file is no table, or lines failed.
        """
        tenant_id = tenant_named(options["tenant"])
        if tenant_id is None or not is_open_supplier(tenant_id):
            raise CommandError(f"There is no open supplier {options['tenant']!r}.")
        work = Import(tenant_id, options["mode"], is_dry=options["dry_run"])
        try:
            shown = self._import(work, options["file"], options["errors"])
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        except UnusableFile as error:
            raise CommandError(f"{options['file']}: {error.detail}{_so_far(work)}") from error
        except PlatformError as error:
            raise CommandError(f"{error.code}: {error.detail}{_so_far(work)}") from error
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).strip().splitlines()[0]}{_so_far(work)}") from error
        self._tell(work, shown, as_json=options["json"])
        if work.counts["failed"]:
            raise CommandError(f"{work.counts['failed']} lines failed.")

    def _import(self, work: Import, path: Path, errors: Path | None) -> list[Fault]:
        """Take the whole file; return the first faults."""
        shown: list[Fault] = []
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            told = csv.writer(stack.enter_context(errors.open("w", newline="", encoding="utf-8"))) if errors else None
            if told:
                told.writerow(Fault._fields)
            bar = ProgressBar(path.name, file, path.stat().st_size)
            stack.callback(bar.end)
            for faults in work.take(lines_of(file)):
                shown += faults[: _SHOWN - len(shown)]
                if told:
                    told.writerows(faults)
                bar.show(work.counts["created"] + work.counts["updated"])
        return shown

    def _tell(self, work: Import, shown: list[Fault], *, as_json: bool) -> None:
        counts = {status: work.counts[status] for status in STATUSES}
        if as_json:
            errors = [fault._asdict() for fault in shown]
            self.stdout.write(json.dumps({**counts, "dry_run": work.is_dry, "errors": errors}))
            return
        for fault in shown:
            where = f" {fault.field}" if fault.field else ""
            self.stderr.write(f"line {fault.line} ({fault.supplier_sku}){where}: {fault.code}: {fault.message}")
        ending = " Nothing was written (--dry-run)." if work.is_dry else ""
        self.stdout.write(", ".join(f"{count} {status}" for status, count in counts.items()) + "." + ending)


def _so_far(work: Import) -> str:
    """Say what stays of an import that ends early."""
    done = work.counts["created"] + work.counts["updated"]
    return f" {done} products were written before." if done and not work.is_dry else ""
