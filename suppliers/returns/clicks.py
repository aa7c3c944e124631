"""What staff do with returns for the acting tenant: the API's own actions, found and locked as it does."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from core.pipeline import run
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.roles import Permission
from suppliers.inventory.states import Unit

from .course import Who, step_of
from .deciding import authorize, cancel_return
from .finding import OF_BUYER, OF_SUPPLIER, ReturnAt, Returned
from .inspecting import inspect
from .receiving import receive_return
from .shipping import ship_return
from .states import Decision, Disposition, ReturnStatus

_TOLD = "Both parties are told."


class PlaceForm(ReasonForm):
    """Where goods are set apart, with the reason."""

    location_id = forms.UUIDField(
        label="Place", widget=UnfoldAdminTextInputWidget(),
        help_text="The id of a place of the tenant that is not for sale, or that has a place of quarantine beside or below it.",
    )  # fmt: skip


class CreditForm(ReasonForm):
    """The number of the credit note, with the reason."""

    credit_note_number = forms.CharField(
        max_length=64, required=False, widget=UnfoldAdminTextInputWidget(), help_text="Required where goods are credited."
    )  # fmt: skip


def _found(click: ButtonClick, find: ReturnAt) -> Returned:
    """Find and lock the return as the API's own actions have it."""
    (located,) = run([find.locate(click.row.tenant_id, click.row.pk)])
    return find(click.actor, click.row.pk, located=located)


def _authorize(click: ButtonClick) -> None:
    said = {"decision": Decision.AUTHORIZED.value, "reason": "", "valid_until": None, "instructions": ""}
    authorize(click.actor, _found(click, OF_SUPPLIER), said, click.at)


def _decline(click: ButtonClick) -> None:
    said = {
        "decision": Decision.DECLINED.value,
        "reason": click.data["reason"],
        "valid_until": None,
        "instructions": "",
    }
    authorize(click.actor, _found(click, OF_SUPPLIER), said, click.at)


def _receive(click: ButtonClick) -> None:
    said = {"received_at": None, "location_id": click.data["location_id"], "lines": []}
    receive_return(click.actor, _found(click, OF_SUPPLIER), said, click.at)


def _inspect(click: ButtonClick) -> None:
    target = _found(click, OF_SUPPLIER)
    lines: list[dict[str, Any]] = [
        {
            "return_line_id": one.id, "disposition": Disposition.QUARANTINE.value, "quantity": None, "unit": Unit.BASE.value,
            "serial_numbers": [], "location_id": None, "file_ids": [], "witness": None,
        }
        for one in target.lines
    ]  # fmt: skip
    inspect(click.actor, target, {"lines": lines, "credit_note_number": click.data["credit_note_number"]}, click.at)


def _ship(click: ButtonClick) -> None:
    ship_return(
        click.actor, _found(click, OF_BUYER), {"carrier": "", "tracking_number": "", "shipped_at": None}, click.at
    )


def _cancel(click: ButtonClick) -> None:
    cancel_return(click.actor, _found(click, OF_BUYER), click.at)


def _button(action: str, label: str, run_: Any, explains: str, who: Who, **more: Any) -> Button:
    return Button(
        name=action, label=label, permission=Permission.SETTLE_RETURNS, run=run_, explains=f"{explains} {_TOLD}",
        shown=lambda row: step_of(str(row.status), action, who) is not None, **more,
    )  # fmt: skip


OF_OWNER = (
    _button(
        "ship", "Handed over", _ship, "The goods leave the buyer's stock now.", Who.BUYER, icon="local_shipping",
    ),
    _button(
        "cancel", "Withdraw", _cancel, "The goods can be on another return.", Who.BUYER, icon="cancel", danger=True,
    ),
)  # fmt: skip
OF_RECEIVER = (
    _button("authorize", "Authorize", _authorize, "The buyer may send the goods.", Who.SUPPLIER, icon="check"),
    _button(
        "decline", "Decline", _decline, "Both parties read the reason.", Who.SUPPLIER, icon="block", danger=True,
    ),
    _button(
        "receive", "Has come back", _receive, "All goods have come, and are set apart.", Who.SUPPLIER,
        icon="move_to_inbox", form=PlaceForm,
    ),
    Button(
        name="inspect", label="Set all goods apart", permission=Permission.SETTLE_RETURNS, run=_inspect,
        explains=f"All that has come back lies in quarantine; the credit or the replacement follows at once. {_TOLD}",
        shown=lambda row: row.status == ReturnStatus.RECEIVED, icon="fact_check", form=CreditForm,
    ),
)  # fmt: skip
