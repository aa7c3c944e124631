"""What staff may do with webhooks: each button calls what the interface calls, with a reason, told to the tenant."""

from organizations.staff.buttons import Button, ConfirmedForm, Press
from organizations.staff.roles import Deed
from webhooks import actions
from webhooks.history.actions import expunge


def _enable(press: Press) -> None:
    actions.update_endpoint(actor=press.actor, endpoint=press.row, data={"active": True}, at=press.at)


def _disable(press: Press) -> None:
    actions.update_endpoint(actor=press.actor, endpoint=press.row, data={"active": False}, at=press.at)


def _expunge(press: Press) -> str:
    bodies = expunge(actor=press.actor, event=press.row, at=press.at)
    return (
        f"Expunged from {bodies} form{'' if bodies == 1 else 's'} of the body. Backups and receivers are not touched."
    )


ENDPOINT_BUTTONS = (
    Button(
        name="enable",
        label="Enable",
        deed=Deed.SWITCH_WEBHOOKS,
        run=_enable,
        explains="Deliveries younger than 72 hours go on at once; older ones count as failed and can be replayed.",
        shown=lambda row: not row.active and row.deleted_at is None,
        icon="play_circle",
    ),
    Button(
        name="disable",
        label="Disable",
        deed=Deed.SWITCH_WEBHOOKS,
        run=_disable,
        explains="Nothing is sent there any more. Unfinished deliveries are frozen; events that happen meanwhile are kept "
        "and can be replayed. The tenant can enable it again.",
        shown=lambda row: row.active,
        icon="pause_circle",
        danger=True,
    ),
)
DELIVERY_BUTTONS: tuple[Button, ...] = ()
REPLAY_BUTTONS: tuple[Button, ...] = ()
EVENT_BUTTONS = (
    Button(
        name="expunge",
        label="Expunge body",
        deed=Deed.EXPUNGE_WEBHOOKS,
        run=_expunge,
        explains="For what should never have been in an event. What it says is emptied in every form, with what receivers "
        "wrote back; id, type, time and deliveries stay. It cannot be undone. The tenant’s other receivers hear of it "
        "(webhook_event.expunged), so that they can do the same.",
        form=ConfirmedForm,
        icon="ink_eraser",
        danger=True,
    ),
)
