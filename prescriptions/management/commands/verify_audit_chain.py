"""`manage.py verify_audit_chain`: verifies snapshots, audit histories and checkpoints, and names each fault."""

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.ids import parse_uuid
from organizations import public as organizations
from prescriptions.evidence.auditing import Audited, audit, faults_as_json


class Command(BaseCommand):
    """Verify what is kept of the prescriptions of one tenant, or of all that are not closed."""

    help = "Verifies digests, signatures, histories and checkpoints, and the rows against their snapshots; changes nothing."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the tenant and the prescription; without them all of all tenants are verified."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")
        parser.add_argument("--tenant", default="", help="slug or id; by default all tenants that are not closed")
        parser.add_argument("--prescription", default="", help="the id of one prescription of the tenant")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the faults; exit code 1 if there are any.

        :raises CommandError: there is no such tenant, or something does not hold.
        """
        prescription_id = parse_uuid(options["prescription"])
        if options["prescription"] and not (prescription_id and options["tenant"]):
            raise CommandError("--prescription takes an id, and needs --tenant.")
        found = [audit(one, prescription_id=prescription_id) for one in _tenants(options["tenant"])]
        faults = [fault for one in found for fault in one.faults]
        answer = {"ok": not faults, "tenants": len(found), **_sums(found), "faults": faults_as_json(faults)}
        self.stdout.write(json.dumps(answer) if options["json"] else _say(answer))
        if faults:
            raise CommandError(f"{len(faults)} faults.")


def _tenants(name: str) -> list[UUID]:
    if not name:
        return organizations.tenants_with("prescriptions")
    found = organizations.tenant_named(name)
    if found is None:
        raise CommandError(f"There is no tenant {name!r}.")
    return [found]


def _sums(found: list[Audited]) -> dict[str, int]:
    return {
        name: sum(getattr(one, name) for one in found)
        for name in ("prescriptions", "entries", "snapshots", "checkpoints")
    }


def _say(answer: dict[str, Any]) -> str:
    """Write one line per fault and what was verified."""
    lines = [
        f"{one['tenant_id']} {one['prescription_id'] or '-'} {one['sequence'] or '-'}: {one['what']}"
        for one in answer["faults"]
    ]
    verified = "{prescriptions} prescriptions, {entries} entries, {snapshots} snapshots, {checkpoints} checkpoints"
    return "\n".join([*lines, f"verified {verified.format(**answer)} in {answer['tenants']} tenants"])
