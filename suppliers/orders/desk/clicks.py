"""What staff do with orders for the supplier as the acting tenant: the API's own actions, found and locked as it does."""

from collections.abc import Callable
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from core.pipeline import run
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.roles import Permission
from suppliers.orders.accepting import accept_order
from suppliers.orders.course import BY_BUYER, BY_SUPPLIER, Place, Who, step_of
from suppliers.orders.models import ReceivedOrder
from suppliers.orders.peeks import ReceivedPeek, ReceivedPeeked
from suppliers.orders.rejecting import reject_order
from suppliers.orders.serializers import REASON_CODE
from suppliers.orders.states import Awaiting, OrderStatus

_FIND = ReceivedPeeked()
_CHANGES = {Awaiting.SUPPLIER.value: BY_BUYER, Awaiting.BUYER.value: BY_SUPPLIER}


class AcceptForm(ReasonForm):
    """Whether the rest may come later, with the reason."""

    allow_partial = forms.BooleanField(
        label="Let what is not in stock come later", required=False, widget=UnfoldBooleanWidget(),
        help_text="Where the buyer takes backorders.",
    )  # fmt: skip


class RejectForm(ReasonForm):
    """The supplier's word for the reason, with the reason."""

    reason_code = forms.RegexField(
        REASON_CODE, max_length=40, widget=UnfoldAdminTextInputWidget(),
        help_text="A word of the supplier, such as out_of_stock or price_error.",
    )  # fmt: skip


def _found(click: ButtonClick) -> ReceivedPeek:
    """Look at the order as the API's own actions have it."""
    (located,) = run([_FIND.locate(click.row.tenant_id, click.row.pk)])
    return _FIND(click.actor, click.row.pk, located=located)


def _accept(click: ButtonClick) -> None:
    said = {"allow_partial": click.data["allow_partial"], "lines": [], "decision": None, "revision": None}
    accept_order(click.actor, _found(click), said, click.at)


def _decide(decision: str) -> Callable[[ButtonClick], None]:
    def click_on(click: ButtonClick) -> None:
        found = _found(click)
        said = {
            "allow_partial": click.data.get("allow_partial", False), "lines": [], "decision": decision,
            "revision": found.row.revision,
        }  # fmt: skip
        accept_order(click.actor, found, said, click.at)

    return click_on


def _reject(click: ButtonClick) -> None:
    said = {"reason_code": click.data["reason_code"], "note": click.data["reason"]}
    reject_order(click.actor, _found(click), said, click.at)


def _place(row: ReceivedOrder) -> Place | None:
    """Return the state of the order; None while the buyer's approvers decide."""
    if row.status != OrderStatus.CHANGE_PROPOSED:
        return Place(str(row.status))
    return _CHANGES.get(str(row.awaiting))


def _button(name: str, label: str, run_: Any, explains: str, action: str, choice: str = "", **more: Any) -> Button:
    def shown(row: ReceivedOrder) -> bool:
        place = _place(row)
        return place is not None and step_of(place, action, Who.SUPPLIER, choice) is not None

    return Button(
        name=name, label=label, permission=Permission.SETTLE_ORDERS, run=run_, explains=explains, shown=shown, **more
    )


OF_SUPPLIER = (
    _button(
        "accept", "Accept", _accept, "Stock is allocated to all lines; both parties are told.", "accept",
        icon="check", form=AcceptForm,
    ),
    _button(
        "accept-change", "Accept the change", _decide("accept"),
        "The order is accepted as the buyer has changed it; both parties are told.", "accept", "accept", icon="check",
        form=AcceptForm,
    ),
    _button(
        "decline-change", "Decline the change", _decide("decline"),
        "The order stays as it was before the buyer's change; both parties are told.", "accept", "decline", icon="undo",
    ),
    _button(
        "reject", "Reject", _reject,
        "All that the order has taken is given back; both parties are told, and read the reason. Not once it was accepted.",
        "reject", icon="block", danger=True, form=RejectForm,
    ),
)  # fmt: skip
