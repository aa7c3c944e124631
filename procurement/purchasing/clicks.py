"""What staff do with orders for the buyer as the acting tenant: the API's own actions, found and locked as it does.

Approvals are none of it: different members decide, none of them about an order of his own.
"""

from collections.abc import Callable
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminDateWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from core.pipeline import run
from organizations.public import Party
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.roles import Permission
from suppliers.public import ORDERS, Backorders, Priority, PurchaseOrder, Substitution, Who, step_of

from .cancelling import REMAINDER, cancel_order, close_order
from .confirming import confirm_changes
from .drafts import update_order
from .finding import OwnOrder
from .peeking import Peeked, PeekedOrder
from .submitting import submit_order

_FIND = PeekedOrder()
_DRAFT = OwnOrder(ORDERS, acts=Party.OWNER)
_TOLD = "Both parties are told, and read the reason."


def _select(choices: Any) -> forms.ChoiceField:
    return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget())


def _text(most: int, **more: Any) -> forms.CharField:
    return forms.CharField(max_length=most, required=False, **more)


class DraftForm(ReasonForm):
    """The header of a draft, with the reason of the change."""

    requested_delivery_date = forms.DateField(required=False, widget=UnfoldAdminDateWidget())
    priority = _select(Priority.choices)
    substitution_policy = _select(Substitution.choices)
    backorder_policy = _select(Backorders.choices)
    external_reference = _text(120, widget=UnfoldAdminTextInputWidget())
    notes_to_supplier = _text(5_000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))
    internal_note = _text(
        5_000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), help_text="The supplier never reads it."
    )

    @classmethod
    def initial_of(cls, row: PurchaseOrder) -> dict[str, Any]:
        """Return the header as it is."""
        return {name: getattr(row, name) for name in cls.base_fields if name != "reason"}


class SubmitForm(ReasonForm):
    """Whether other prices than those of the draft are accepted, with the reason."""

    accept_price_changes = forms.BooleanField(
        label="Submit at the prices of now", required=False, widget=UnfoldBooleanWidget()
    )


def _found(click: ButtonClick) -> Peeked:
    """Look at the order as the API's own actions have it."""
    (located,) = run([_FIND.locate(click.row.tenant_id, click.row.pk)])
    return _FIND(click.actor, click.row.pk, located=located)


def _edit(click: ButtonClick) -> None:
    (located,) = run([_DRAFT.locate(click.row.tenant_id, click.row.pk)])
    draft = _DRAFT(click.actor, click.row.pk, located=located)
    said = {name: value for name, value in click.data.items() if name != "reason"}
    update_order(click.actor, draft, said, click.at)


def _submit(click: ButtonClick) -> None:
    said = {"accept_price_changes": click.data["accept_price_changes"]}
    submit_order(click.actor, _found(click), said, click.at)


def _cancel(remainder: bool) -> Callable[[ButtonClick], None]:
    def click_on(click: ButtonClick) -> None:
        said = {REMAINDER: remainder, "reason": click.data["reason"]}
        cancel_order(click.actor, _found(click), said, click.at)

    return click_on


def _close(click: ButtonClick) -> None:
    close_order(click.actor, _found(click), {"reason": click.data["reason"]}, click.at)


def _confirm(decision: str) -> Callable[[ButtonClick], None]:
    def click_on(click: ButtonClick) -> None:
        found = _found(click)
        said = {"decision": decision, "revision": found.row.revision, "reason": click.data["reason"]}
        confirm_changes(click.actor, found, said, click.at)

    return click_on


def _button(name: str, label: str, run_: Any, explains: str, action: str, choice: str = "", **more: Any) -> Button:
    return Button(
        name=name, label=label, permission=Permission.SETTLE_ORDERS, run=run_, explains=explains,
        shown=lambda row: step_of(row.place, action, Who.BUYER, choice) is not None, **more,
    )  # fmt: skip


OF_BUYER = (
    _button(
        "edit", "Edit", _edit, "The draft is priced anew, and becomes a new revision. Lines are edited by the buyer.",
        "update", icon="edit", form=DraftForm,
    ),
    _button(
        "submit", "Submit", _submit, "The limits are taken; the order is sent, or waits for the buyer's approvers.",
        "submit", icon="send", form=SubmitForm,
    ),
    _button(
        "accept-change", "Accept the change", _confirm("accept"), f"The order is as the supplier has proposed. {_TOLD}",
        "confirm-changes", "accept", icon="check",
    ),
    _button(
        "decline-change", "Decline the change", _confirm("decline"), f"The order is cancelled. {_TOLD}",
        "confirm-changes", "decline", icon="block", danger=True,
    ),
    _button(
        "withdraw-change", "Withdraw the change", _confirm("withdraw"),
        f"The order stays as it was before the buyer's change. {_TOLD}", "confirm-changes", "withdraw", icon="undo",
    ),
    _button(
        "cancel", "Cancel", _cancel(remainder=False), f"All that the order has taken is given back. {_TOLD}", "cancel",
        icon="cancel", danger=True,
    ),
    _button(
        "cancel-rest", "Cancel the rest", _cancel(remainder=True), f"What is not shipped does not come. {_TOLD}", "cancel",
        REMAINDER, icon="cancel",
    ),
    _button(
        "close", "Close", _close, f"Nothing more is to come of the order. {_TOLD}", "close", icon="task_alt",
    ),
)  # fmt: skip
