"""`manage.py import_catalog FILE.csv --tenant NAME`: creates and updates a supplier's products from a file."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from suppliers.catalog.bulk.serializers import MERGE, REPLACE
from suppliers.company.queries import is_open_supplier
from suppliers.management.catalog_import import Import
from suppliers.management.file_imports import ImportCommand


class Command(ImportCommand):
    """Import products, batch by batch, through the rules of the bulk operation."""

    help = (
        "Create and update products from a CSV file, known by their supplier_sku. Its first line names members as the API does:"
        " name, storage.min_c, packagings.0.gtin. Lines that fail are left out and told. Run it again after it was broken off or"
        " after lines were mended: what is there already is unchanged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        super().add_arguments(parser)
        parser.add_argument(
            "--mode", choices=(MERGE, REPLACE), default=MERGE, help="what becomes of members that the file leaves out"
        )

    def work_for(self, tenant_id: UUID | None, options: dict[str, Any]) -> Import:
        """Return the import of products.

        :raises CommandError: there is no such supplier.
        """
        if tenant_id is None or not is_open_supplier(tenant_id):
            raise CommandError(f"There is no open supplier {options['tenant']!r}.")
        return Import(tenant_id, options["mode"], is_dry=options["dry_run"])
