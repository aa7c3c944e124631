"""What staff do with invoices for the acting tenant: the API's own actions, found and locked as it does."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget

from core.pipeline import run
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.roles import Permission

from .acting import approve, cancel, dispute, match_again, reject
from .course import WITHDRAW, Who, step_of
from .finding import OF_BUYER, OF_SUPPLIER, BilledInvoice, InvoiceAt
from .states import DisputeReason, InvoiceStatus, InvoiceType

_TOLD = "Both parties are told, and read the reason."


class DisputedForm(ReasonForm):
    """What is wrong with the invoice, with the reason."""

    reason_code = forms.ChoiceField(
        label="What is wrong", choices=DisputeReason.choices, widget=UnfoldAdminSelectWidget()
    )


def _found(click: ButtonClick, find: InvoiceAt = OF_BUYER) -> BilledInvoice:
    """Find and lock the invoice as the API's own actions have it."""
    (located,) = run([find.locate(click.row.tenant_id, click.row.pk)])
    return find(click.actor, click.row.pk, located=located)


def _match(click: ButtonClick) -> None:
    match_again(click.actor, _found(click), click.at)


def _approve(click: ButtonClick) -> None:
    found = _found(click)
    differs = found.row.status == InvoiceStatus.MISMATCHED
    approve(click.actor, found, {"override_reason": click.data["reason"] if differs else ""}, click.at)


def _dispute(click: ButtonClick) -> None:
    said = {"reason_code": click.data["reason_code"], "note": click.data["reason"], "withdraw": False}
    dispute(click.actor, _found(click), said, click.at)


def _withdraw(click: ButtonClick) -> None:
    dispute(click.actor, _found(click), {"reason_code": None, "note": "", "withdraw": True}, click.at)


def _reject(click: ButtonClick) -> None:
    reject(click.actor, _found(click), {"reason": click.data["reason"]}, click.at)


def _cancel(click: ButtonClick) -> None:
    cancel(click.actor, _found(click, OF_SUPPLIER), {"reason": click.data["reason"]}, click.at)


def _button(name: str, label: str, run_: Any, explains: str, who: Who = Who.BUYER, **more: Any) -> Button:
    action, choice = more.pop("step", (name, ""))
    return Button(
        name=name, label=label, permission=Permission.SETTLE_INVOICES, run=run_, explains=explains,
        shown=lambda row: row.type != InvoiceType.CREDIT_NOTE and step_of(str(row.status), action, who, choice) is not None,
        **more,
    )  # fmt: skip


OF_OWNER = (
    _button("match", "Match again", _match, "It is held against order and receipts by the policies of now.", icon="rule"),
    _button(
        "approve", "Approve", _approve,
        "It is released for payment. One that does not match is released for the reason, which its supplier never reads.",
        icon="check",
    ),
    _button(
        "dispute", "Dispute", _dispute, f"It is under query until a credit note comes, or this is withdrawn. {_TOLD}",
        icon="help", danger=True, form=DisputedForm,
    ),
    _button(
        "withdraw", "Withdraw the dispute", _withdraw, "It is matched again. Both parties are told.",
        step=("dispute", WITHDRAW), icon="undo",
    ),
    _button("reject", "Reject", _reject, f"For good; the same may be invoiced anew. {_TOLD}", icon="block", danger=True),
)  # fmt: skip
OF_RECEIVER = (
    _button(
        "cancel", "Withdraw", _cancel, f"For good; the same may be invoiced anew. {_TOLD}", Who.SUPPLIER, icon="cancel",
        danger=True,
    ),
)  # fmt: skip
