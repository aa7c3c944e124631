"""`manage.py import_agreement FILE.csv --agreement ID --tenant NAME`: fills a draft of a price agreement from a file."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from suppliers.management.agreement_import import Import
from suppliers.management.file_imports import ImportCommand


class Command(ImportCommand):
    """Import lines of a draft, batch by batch, by merges of its PATCH."""

    help = (
        "Create, update and take out lines of a draft of a price agreement from a CSV file. Its first line names members as the"
        " API does: product_id, supplier_sku or category, packaging_id, tiers.0.min_quantity (1 if it is left out),"
        " tiers.0.unit_price or tiers.0.discount_percent, max_quantity, remove. Lines that the file does not name stay. Lines that"
        " fail are left out and told. Run it again after it was broken off or after lines were mended: what is there already is"
        " unchanged."
    )
    tenant_help = "slug or id of the draft's author, the buyer or the supplier"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        super().add_arguments(parser)
        parser.add_argument("--agreement", required=True, type=UUID, metavar="ID", help="id of the agreement")

    def work_for(self, tenant_id: UUID | None, options: dict[str, Any]) -> Import:
        """Return the import of lines.

        :raises CommandError: there is no such tenant.
        """
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        return Import(tenant_id, is_dry=options["dry_run"], agreement_id=options["agreement"])
