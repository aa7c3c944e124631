"""`manage.py export_tenant`: writes all rows of a tenant into a folder, with a manifest."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from organizations.management.base import TenantCommand, locked_tenant
from organizations.portability import export


class Command(TenantCommand):
    """Export a tenant."""

    help = "Writes a tenant's rows as NDJSON, one file per table, and a manifest with the SHA-256 of each file."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for the tenant and the folder."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--out", required=True, help="folder; files of an earlier export in it are replaced")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Write the files and count them.

        :raises CommandError: the folder cannot be written.
        """
        with transaction.atomic():
            tenant = locked_tenant(options["tenant"])
        try:
            manifest = export(tenant.id, Path(options["out"]))
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error.strerror}") from error
        rows = sum(file["rows"] for file in manifest["files"])
        return {"tenant_id": str(tenant.id), "folder": options["out"], "files": len(manifest["files"]), "rows": rows}
