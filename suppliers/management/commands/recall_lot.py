"""`manage.py recall_lot`: recalls a lot of a supplier, or with `--preview` tells whom that would concern."""

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core import clock
from core.actor import system_actor
from core.db import tenant_context
from core.errors import PlatformError
from organizations import public as organizations
from suppliers.inventory.lots import change_lot, locked_lot
from suppliers.inventory.models import Lot
from suppliers.inventory.recalls.tracing import preview
from suppliers.inventory.states import LotStatus, RecallClass

_SAID = ("reference", "authority", "instructions")


class Command(BaseCommand):
    """Recall a lot, or tell whom that would concern."""

    help = (
        "Recalls a lot: nothing of it can be sold any more, and its buyers are told. With --preview nothing is changed."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the lot, and what the recall says."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")
        parser.add_argument("--tenant", required=True, help="slug or id of the supplier")
        parser.add_argument("--lot", required=True, help="the lot's number")
        parser.add_argument("--product", default="", help="the product's SKU, where several have a lot of this number")
        parser.add_argument("--preview", action="store_true", help="only tell whom the recall would concern")
        parser.add_argument("--class", dest="recall_class", default="", choices=["", *RecallClass.values])
        for name in (*_SAID, "reason"):
            parser.add_argument(f"--{name}", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the buyers concerned, and recall the lot unless it is a preview.

        :raises CommandError: there is no such lot, or it cannot be recalled so.
        """
        tenant_id = organizations.tenant_named(options["tenant"])
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        with tenant_context(tenant_id):
            lot_id = _lot_of(tenant_id, options)
            found = preview(tenant_id, lot_id)
            if not options["preview"]:
                _recall(tenant_id, lot_id, options)
        buyers = [
            {
                "id": str(one.buyer_tenant_id),
                "name": one.name,
                "reservations": one.reservations,
                "reserved": one.reserved,
            }
            for one in found.buyers
        ]
        answer = {"lot_id": str(lot_id), **found.stock._asdict(), "buyers": buyers, "recalled": not options["preview"]}
        self.stdout.write(json.dumps(answer) if options["json"] else _say(answer))


def _lot_of(tenant_id: UUID, options: dict[str, Any]) -> UUID:
    own = {"origin_tenant_id": None, "product__own_product__isnull": False}
    lots = Lot.objects.filter(tenant_id=tenant_id, lot_number=options["lot"], **own)
    if options["product"]:
        lots = lots.filter(product__own_product__supplier_sku=options["product"])
    found = list(lots.values_list("id", flat=True)[:2])
    if len(found) == 1:
        return UUID(str(found[0]))
    raise CommandError(
        "Several products have a lot of this number: name one by --product." if found else "No such lot."
    )


def _recall(tenant_id: UUID, lot_id: UUID, options: dict[str, Any]) -> None:
    actor = system_actor(tenant_id)
    said = {"class": options["recall_class"], **{name: options[name] for name in _SAID}}
    data = {"status": LotStatus.RECALLED.value, "recall": said, "reason": options["reason"]}
    try:
        change_lot(actor, locked_lot(actor, lot_id), data, clock.now())
    except PlatformError as error:
        faults = "; ".join(f"{fault.field}: {fault.message}" for fault in error.errors)
        raise CommandError(f"{error.code}: {faults or error.detail}") from error


def _say(answer: dict[str, Any]) -> str:
    """Write the lot's stock, and one line for each buyer."""
    head = f"lot {answer['lot_id']} of {answer['supplier_sku']}: {answer['on_hand']} on hand, {answer['reserved']} reserved"
    lines = [
        f"{one['name']}: {one['reservations']} reservations, {one['reserved']} base units" for one in answer["buyers"]
    ]
    return "\n".join([head, *lines, "Recalled." if answer["recalled"] else "A preview: nothing was changed."])
