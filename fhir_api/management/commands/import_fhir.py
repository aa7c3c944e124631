"""`manage.py import_fhir FILE… --tenant NAME`: reads files of resources and Bundles into a tenant."""

import gzip
import io
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError

from core.actor import system_actor
from core.progress_bar import ProgressBar
from fhir_api.bundles.imports import Import, Item, Unread, lines, whole
from organizations.public import tenant_named


class Command(BaseCommand):
    """Imports NDJSON (a resource or Bundle a line) and JSON (a resource, a Bundle, or a list of them), packed or not."""

    help = (
        "Import FHIR resources and Bundles. Run it again after it was broken off: what is there is not written twice,"
        " what was refused is tried again. Where a file has one id several times, each run writes its versions again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=".ndjson, .json, each also as .gz")
        parser.add_argument("--tenant", required=True, help="slug or id")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and tell what came of it.

        :raises CommandError: there is no such tenant, or something was refused.
        """
        tenant_id = tenant_named(options["tenant"])
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        work = Import(system_actor(tenant_id))
        for path in options["files"]:
            self._import(work, path)
        tally = work.tally
        self.stdout.write(
            f"{tally.written} written, {tally.unchanged} unchanged, {tally.repeated} Bundles imported before, "
            f"{tally.skipped} of other types left out, {tally.refused} refused."
        )
        if tally.refused:
            more = ["…"] if tally.refused > len(tally.reasons) else []
            raise CommandError("\n".join(["Refused:", *tally.reasons, *more]))

    def _import(self, work: Import, path: Path) -> None:
        try:
            file = path.open("rb")
        except OSError as error:
            work.tally.refuse(f"{path}: {error.strerror}")
            return
        with file:
            bar = ProgressBar(path.name, file, path.stat().st_size)
            for _ in work.take(_items(path.name, file)):
                bar.show(work.tally.written)
            bar.end()


def _items(name: str, file: IO[bytes]) -> Iterator[Item | Unread]:
    packed = name.endswith(".gz")
    content = (
        cast("IO[bytes]", io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=file)))) if packed else file
    )
    return (lines if name.removesuffix(".gz").endswith((".ndjson", ".jsonl")) else whole)(content, name)
