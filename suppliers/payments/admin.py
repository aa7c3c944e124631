"""Admin pages of payments: the buyer's rows with what they pay, and what suppliers have of them. Only state buttons change them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from unfold.widgets import UnfoldAdminDateWidget, UnfoldAdminTextInputWidget

from core.money import Money
from core.pipeline import run
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import FoundByItsAction, TenantAdmin, link_action

from .confirming import cancel_payment, confirm_payment
from .course import CANCEL, FAILED, PROCESSING, REVERSED, SUCCEEDED, step_of
from .finding import OWN, OwnPayment
from .models import CreditSource, Payment, PaymentAllocation, ReceivedPayment

STATUS_COLOURS = {
    "pending": "warning", "processing": "info", "succeeded": "success", "failed": "danger", "cancelled": "danger",
    "reversed": "danger",
}  # fmt: skip
_TOLD = "Both parties are told, and read the reason."


class PaidForm(ReasonForm):
    """The day on which the money has moved, with the reason."""

    value_date = forms.DateField(
        label="Value date", required=False, widget=UnfoldAdminDateWidget(), help_text="Empty: as it is, else today."
    )
    provider_reference = forms.CharField(max_length=140, required=False, widget=UnfoldAdminTextInputWidget())


class FailedForm(ReasonForm):
    """What the bank has said, with the reason."""

    code = forms.CharField(max_length=64, label="The bank's code", widget=UnfoldAdminTextInputWidget())


def _payment(click: ButtonClick) -> OwnPayment:
    """Find and lock the payment as the API's own actions have it."""
    (located,) = run([OWN.locate(click.row.tenant_id, click.row.pk)])
    return OWN(click.actor, click.row.pk, located=located)


def _confirm(outcome: str) -> Any:
    def press(click: ButtonClick) -> None:
        code = click.data.get("code")
        data = {
            "status": outcome, "value_date": click.data.get("value_date"), "reason": click.data["reason"],
            "provider_reference": click.data.get("provider_reference") or "",
            "failure": {"code": code, "message": ""} if code else None,
        }  # fmt: skip
        confirm_payment(click.actor, _payment(click), data, click.at)

    return press


def _cancel(click: ButtonClick) -> None:
    cancel_payment(click.actor, _payment(click), {"reason": click.data["reason"]}, click.at)


def _button(action: str, label: str, run_: Any, explains: str, **more: Any) -> Button:
    return Button(
        name=action, label=label, permission=Permission.SETTLE_PAYMENTS, run=run_, explains=f"{explains} {_TOLD}",
        shown=lambda row: step_of(str(row.status), action) is not None, **more,
    )  # fmt: skip


class _WithStanding:
    """A page that shows its state as a coloured label, and its amount."""

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: Any) -> str:
        """The status as a coloured label."""
        return str(row.status)


def _shown(row: Any) -> str:
    return f"{Money(row.amount, row.currency).rounded().amount:,f} {row.currency}"


@admin.register(Payment)
class PaymentAdmin(_WithStanding, FoundByItsAction, TenantAdmin):
    """Payments of the acting tenant as buyer."""

    area = Area.BILLING
    list_display = (
        "number",
        "standing",
        "total",
        "method",
        "supplier_tenant_id",
        "value_date",
        "created_at",
        "updated_at",
    )
    list_filter = ("status", "method", "currency")
    search_fields = ("=id", "=number", "=provider_reference")
    search_help_text = "Id, number or provider's reference of the payment, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant", "number", "supplier_tenant_id", "standing", "method", "total", "value_date", "provider_reference",
        "bank_account", "remittance_text", "failure_code", "failure_message", "succeeded_at", "ended_at", "created_by_id",
        "confirmed_by_id", "created_at", "updated_at", "version", "shared_version",
    )  # fmt: skip
    readonly_fields = ("standing", "total")
    buttons = (
        _button(PROCESSING, "Sent to the bank", _confirm(PROCESSING), "It cannot be cancelled any more.", icon="send"),
        _button(SUCCEEDED, "Paid", _confirm(SUCCEEDED), "Its invoices are paid by it.", icon="paid", form=PaidForm),
        _button(
            FAILED, "Failed", _confirm(FAILED), "What it holds on its invoices is free again.", icon="money_off", danger=True,
            form=FailedForm,
        ),
        _button(CANCEL, "Cancel", _cancel, "What it holds on its invoices is free again.", icon="cancel", danger=True),
        _button(
            REVERSED, "Taken back", _confirm(REVERSED), "Its invoices are due again.", icon="undo", danger=True,
            form=FailedForm,
        ),
    )  # fmt: skip

    @column(description="Amount", ordering="amount")
    def total(self, row: Payment) -> str:
        """The amount with its currency."""
        return _shown(row)

    def links(self, request: HttpRequest, row: Payment) -> list[dict[str, Any]]:
        """Lead to what it pays, and whose credit it uses."""
        asked = urlencode({"q": str(row.id)})
        paid, used = (reverse(f"admin:suppliers_{name}_changelist") for name in ("paymentallocation", "creditsource"))
        return [
            link_action("Invoices that it pays", f"{paid}?{asked}", icon="list"),
            link_action("Credit that it uses", f"{used}?{asked}", icon="list"),
        ]


class _PartAdmin(TenantAdmin):
    """Parts of payments, each of one invoice."""

    area = Area.BILLING
    list_display = ("payment", "position", "invoice_number", "total", "created_at")
    list_select_related = ("payment",)
    search_fields = ("=payment__id", "=invoice__id", "=invoice_number")
    search_help_text = "The id of a payment or an invoice, or the number of an invoice, in full."
    ordering = ("-created_at", "-id")
    fields = ("id", "tenant", "payment", "position", "invoice", "invoice_number", "total", "created_at")
    readonly_fields = ("total",)

    @column(description="Amount", ordering="amount")
    def total(self, row: Any) -> str:
        """The amount with its currency."""
        return _shown(row)


@admin.register(PaymentAllocation)
class PaymentAllocationAdmin(_PartAdmin):
    """What payments pay."""


@admin.register(CreditSource)
class CreditSourceAdmin(_PartAdmin):
    """Whose credit payments use."""


@admin.register(ReceivedPayment)
class ReceivedPaymentAdmin(_WithStanding, TenantAdmin):
    """Payments to the acting tenant as supplier: its copies."""

    area = Area.BILLING
    list_display = ("number", "standing", "owner_tenant_id", "currency", "value_date", "received_at", "updated_at")
    list_filter = ("status", "currency")
    search_fields = ("=id", "=number")
    search_help_text = "Id or number of the payment, in full."
    ordering = ("-received_at", "-id")
    fields = (
        "id", "tenant", "number", "owner_tenant_id", "standing", "currency", "value_date", "received_at", "updated_at",
        "version",
    )  # fmt: skip
    readonly_fields = ("standing",)
