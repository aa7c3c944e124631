"""`manage.py import_prices FILE.csv --list CODE --tenant NAME`: fills a supplier's price list from a file."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from suppliers.company.queries import is_open_supplier
from suppliers.management.file_imports import ImportCommand
from suppliers.management.price_import import Import


class Command(ImportCommand):
    """Import entries of a price list, batch by batch, by merges of its PUT."""

    help = (
        "Create, update and take out entries of a price list from a CSV file. Its first line names members as the API does:"
        " supplier_sku or product_id, packaging_id, price_base_quantity, tiers.0.min_quantity (1 if it is left out),"
        " tiers.0.unit_price, remove. Entries that the file does not name stay. A list that there is not is made as a draft."
        " Lines that fail are left out and told. Run it again after it was broken off or after lines were mended: what is"
        " there already is unchanged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        super().add_arguments(parser)
        parser.add_argument("--list", required=True, metavar="CODE", help="code of the price list")
        parser.add_argument(
            "--currency", help="of a new list, the supplier's own if it is left out; a list that there is must have it"
        )
        parser.add_argument("--name", help="of a new list; its code if it is left out")

    def work_for(self, tenant_id: UUID | None, options: dict[str, Any]) -> Import:
        """Return the import of entries.

        :raises CommandError: there is no such supplier.
        """
        if tenant_id is None or not is_open_supplier(tenant_id):
            raise CommandError(f"There is no open supplier {options['tenant']!r}.")
        named = {"code": options["list"], "currency": options["currency"], "name": options["name"]}
        return Import(tenant_id, is_dry=options["dry_run"], **named)
