"""What staff do with receipts for the acting tenant: the API's own action."""

from core.pipeline import run
from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.roles import Permission

from .finding import OwnDelivery
from .recording import receive


def _reverse(click: ButtonClick) -> None:
    row, find = click.row, OwnDelivery()
    (located,) = run([find.locate(row.tenant_id, row.delivery_id)])
    target = find(click.actor, row.delivery_id, located=located)
    receive(click.actor, target, {"reverses": row.pk, "received_at": None}, click.at)


OF_RECEIPT = (
    Button(
        name="reverse", label="Reverse", permission=Permission.SETTLE_DELIVERIES, run=_reverse,
        explains="Its counts and its goods are taken back by a further receipt, while the goods are still there. Both parties are told.",
        shown=lambda row: row.reverses_id is None, icon="undo", danger=True,
    ),
)  # fmt: skip
