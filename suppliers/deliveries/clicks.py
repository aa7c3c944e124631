"""What staff do with deliveries for the acting tenant: the API's own actions, found and locked as it does."""

from typing import Any

from core.pipeline import run
from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.roles import Permission

from .changing import change
from .course import DELIVERED, LOST, Who, step_of
from .exceptions import report_exception
from .finding import SHIPMENT
from .finding_delivery import DELIVERED_TO
from .states import ExceptionType


def _report(click: ButtonClick, kind: str) -> None:
    row = click.row
    (located,) = run([DELIVERED_TO.locate(row.tenant_id, row.pk)])
    said = {"type": kind, "note": click.data["reason"], "line_nos": [], "file_ids": []}
    report_exception(click.actor, DELIVERED_TO(click.actor, row.pk, located=located), said, click.at)


def _suspect(click: ButtonClick) -> None:
    _report(click, ExceptionType.SUSPECT.value)


def _missing(click: ButtonClick) -> None:
    _report(click, ExceptionType.LOST.value)


def _become(click: ButtonClick, status: str) -> None:
    row = click.row
    (located,) = run([SHIPMENT.locate(row.tenant_id, row.order_id, row.pk)])
    shipment = SHIPMENT(click.actor, row.order_id, row.pk, located=located)
    change(click.actor, shipment, {"status": status, "reason": click.data["reason"]}, click.at)


def _arrive(click: ButtonClick) -> None:
    _become(click, DELIVERED)


def _lose(click: ButtonClick) -> None:
    _become(click, LOST)


def _button(name: str, label: str, run_: Any, explains: str, action: str, who: Who, **more: Any) -> Button:
    return Button(
        name=name, label=label, permission=Permission.SETTLE_DELIVERIES, run=run_, explains=explains,
        shown=lambda row: step_of(row.status, action, who) is not None, **more,
    )  # fmt: skip


OF_BUYER = (
    _button(
        "suspect", "Report suspect goods", _suspect,
        "The buyer's lots of all lines are held back; both parties are told and alerted, and read the reason.",
        "exceptions", Who.BUYER, icon="report", danger=True,
    ),
    _button(
        "missing", "Report as lost", _missing,
        "From 30 days after it had left the delivery is lost, and what was not received counts as short. Before, it is a record.",
        "exceptions", Who.BUYER, icon="wrong_location",
    ),
)  # fmt: skip
OF_SUPPLIER = (
    _button(
        "delivered", "Mark as delivered", _arrive, "The carrier has handed it over; both parties are told.", DELIVERED,
        Who.SUPPLIER, icon="local_shipping",
    ),
    _button(
        "lost", "Mark as lost", _lose, "What was not received counts as short; both parties are told, and read the reason.",
        LOST, Who.SUPPLIER, icon="wrong_location", danger=True,
    ),
)  # fmt: skip
