"""`manage.py fhir_value_sets [FILE…] --tenant NAME`: brings a tenant's value sets, forgets them, tells which there are."""

import gzip
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from core import clock
from core.db import tenant_context
from core.errors import PlatformError
from fhir_api.bundles.imports import LIMIT_BYTES, NotImported
from fhir_api.reading import read_document
from fhir_api.value_sets.actions import forget, keep
from fhir_api.value_sets.documents import Document, read
from fhir_api.value_sets.models import ValueSet
from organizations.public import tenant_named


class Command(BaseCommand):
    """Takes ValueSet resources (JSON, a list or a Bundle of them, packed or not); all of them, or none."""

    help = "Bring value sets for searches with :in and :not-in, forget them, or, without either, list them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help=".json, also as .json.gz")
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--remove", action="append", default=[], metavar="URL[|VERSION]", help="forget this one")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and tell what there is then.

        :raises CommandError: there is no such tenant, file or value set, or one cannot be used.
        """
        tenant_id = tenant_named(options["tenant"])
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        documents = [document for path in options["files"] for document in _documents(path)]
        with tenant_context(tenant_id):
            for address in options["remove"]:
                if not forget(tenant_id, address):
                    raise CommandError(f"There is no value set {address!r}.")
            told = [self._kept(tenant_id, document) for document in documents]
            known = [f"{one}  {one.count} codes" for one in _all(tenant_id)]
        self.stdout.write("\n".join([*told, f"{len(known)} value sets", *known]))

    def _kept(self, tenant_id: UUID, document: Document) -> str:
        made = keep(tenant_id, document, at=clock.now())
        return f"{'brought' if made else 'replaced'} {document.url}"


def _all(tenant_id: UUID) -> list[ValueSet]:
    return list(ValueSet.objects.filter(tenant_id=tenant_id).order_by("url", "set_version"))


def _documents(path: Path) -> list[Document]:
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            found = read_document(file.read(LIMIT_BYTES + 1), limit_bytes=LIMIT_BYTES)
        return [read(one) for one in _resources(found)]
    except (OSError, EOFError) as error:
        raise CommandError(f"{path}: {error}") from error
    except PlatformError as error:
        raise CommandError(f"{path}: {error.detail}") from error


def _resources(found: Any) -> list[Any]:
    """What a file holds: one, a list, or the entries of a Bundle.

    :raises NotImported: a Bundle whose entries cannot be read.
    """
    if isinstance(found, dict) and found.get("resourceType") == "Bundle":
        entries = found.get("entry", [])
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise NotImported("The entries of the Bundle cannot be read.")
        return [one.get("resource") for one in entries]
    return found if isinstance(found, list) else [found]
