"""What commands that read a table of a supplier have in common: options, progress, row results and refusals in one line."""

import csv
import json
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core.errors import FieldError, PlatformError
from core.progress_bar import ProgressBar
from organizations.public import tenant_named

from .csv_files import Form, Line, UnusableFile, lines_of

_SHOWN: Final = 50
_KEPT: Final = ("failed", "unchanged")  # statuses of lines that write nothing


class Fault(NamedTuple):
    """What is wrong with one line of the file."""

    line: int
    supplier_sku: str
    field: str
    code: str
    message: str


class FileImport(ABC):
    """Base of the import of one file, which takes lines batch by batch, each in a transaction of its own.

    `statuses` are what can become of a line, in the order in which they are told; `noun` is what its rows are called.
    """

    form: ClassVar[Form]
    statuses: ClassVar[Sequence[str]]
    noun: ClassVar[str]

    is_dry: bool
    counts: Counter[str]

    @abstractmethod
    def take(self, lines: Iterable[Line]) -> Iterator[list[Fault]]:
        """Write the lines batch by batch; after each yield the faults of its lines, in their order."""


def faults_of(error: PlatformError) -> Sequence[FieldError]:
    """Return what an error says of its fields, or of the whole."""
    return error.errors or (FieldError("", error.code, error.detail or error.title),)


class ImportCommand(BaseCommand):
    """A command that imports a table; a subclass says which one by `work_for`."""

    tenant_help = "slug or id of the supplier"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options that all imports share."""
        parser.add_argument("file", type=Path, metavar="FILE.csv")
        parser.add_argument("--tenant", required=True, help=self.tenant_help)
        parser.add_argument(
            "--errors", type=Path, metavar="FILE.csv", help="write what is wrong with lines into this file"
        )
        parser.add_argument("--dry-run", action="store_true", help="judge every line and write nothing")
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def work_for(self, tenant_id: UUID | None, options: dict[str, Any]) -> FileImport:
        """Return the import that the options ask for.

        :raises CommandError: there is nothing to import into.
        """
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and tell what came of it.

        :raises CommandError: there is nothing to import into or no file, the file is no table, or lines failed.
        """
        work = self.work_for(tenant_named(options["tenant"]), options)
        try:
            shown = self._import(work, options["file"], options["errors"])
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        except UnusableFile as error:
            raise CommandError(f"{options['file']}: {error.detail}{_so_far(work)}") from error
        except PlatformError as error:
            told = "; ".join(f"{one.field}: {one.message}" for one in error.errors) or error.detail or error.title
            raise CommandError(f"{error.code}: {told}{_so_far(work)}") from error
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).strip().splitlines()[0]}{_so_far(work)}") from error
        self._tell(work, shown, as_json=options["json"])
        if work.counts["failed"]:
            raise CommandError(f"{work.counts['failed']} lines failed.")

    def _import(self, work: FileImport, path: Path, errors: Path | None) -> list[Fault]:
        """Take the whole file; return the first faults."""
        shown: list[Fault] = []
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            told = csv.writer(stack.enter_context(errors.open("w", newline="", encoding="utf-8"))) if errors else None
            if told:
                told.writerow(Fault._fields)
            bar = ProgressBar(path.name, file, path.stat().st_size)
            stack.callback(bar.end)
            for faults in work.take(lines_of(file, work.form)):
                shown += faults[: _SHOWN - len(shown)]
                if told:
                    told.writerows(faults)
                bar.show(_written(work))
        return shown

    def _tell(self, work: FileImport, shown: list[Fault], *, as_json: bool) -> None:
        counts = {status: work.counts[status] for status in work.statuses}
        if as_json:
            errors = [fault._asdict() for fault in shown]
            self.stdout.write(json.dumps({**counts, "dry_run": work.is_dry, "errors": errors}))
            return
        for fault in shown:
            where = f" {fault.field}" if fault.field else ""
            self.stderr.write(f"line {fault.line} ({fault.supplier_sku}){where}: {fault.code}: {fault.message}")
        ending = " Nothing was written (--dry-run)." if work.is_dry else ""
        self.stdout.write(", ".join(f"{count} {status}" for status, count in counts.items()) + "." + ending)


def _written(work: FileImport) -> int:
    return sum(work.counts[status] for status in work.statuses if status not in _KEPT)


def _so_far(work: FileImport) -> str:
    """Say what stays of an import that ends early."""
    done = _written(work)
    return f" {done} {work.noun} were written before." if done and not work.is_dry else ""
