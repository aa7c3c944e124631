"""What staff may do with webhooks: each button calls what the interface calls, with a reason, told to the tenant."""

from core.ids import uuid7
from organizations.staff.buttons import Button, ButtonClick, ConfirmedForm, Later, Shown
from organizations.staff.roles import Permission
from webhooks import actions, queries, states
from webhooks.history.actions import expunge
from webhooks.keys.actions import rotate_secret
from webhooks.replays.actions import cancel_replay, request_replay
from webhooks.replays.queries import locked_replay
from webhooks.sampling.actions import make_sample, send_sample

from .forms import ReplayForm, RotationForm, SampleForm
from .wording import sample_words


def _enable(click: ButtonClick) -> None:
    actions.update_endpoint(actor=click.actor, endpoint=click.row, data={"active": True}, at=click.at)


def _disable(click: ButtonClick) -> None:
    actions.update_endpoint(actor=click.actor, endpoint=click.row, data={"active": False}, at=click.at)


def _replay(click: ButtonClick) -> str:
    wanted = {name: click.data[name] for name in ("since", "until", "only", "types") if click.data[name]}
    made = request_replay(actor=click.actor, endpoint=click.row, data=wanted, at=click.at)
    return f"Replay {made.id} is queued; its page shows how far it is."


def _resend(click: ButtonClick) -> str:
    """Locks come in the order of the interface: the endpoint, then the delivery."""
    delivery = queries.locked_delivery(click.actor, click.row.endpoint_id, click.row.pk)
    actions.resend_delivery(click.actor, delivery, click.at)
    return "It is sent again now; this page shows what becomes of it."


def _sample(click: ButtonClick) -> Later:
    """It is signed inside the transaction, and sent once that is over."""
    data = {"type": click.data["type"]}
    sample = make_sample(click.actor, click.row, data, click.at, uuid7())
    return Later(lambda: sample_words(send_sample(sample)))


def _rotate(click: ButtonClick) -> Shown:
    made = rotate_secret(click.actor, click.row, {"overlap_seconds": click.data["overlap_hours"] * 3600}, click.at)
    return Shown(next(iter(made.members.values())))


def _cancel(click: ButtonClick) -> None:
    replay = locked_replay(click.actor, click.row.endpoint_id, click.row.pk)
    cancel_replay(click.actor, replay, click.at)


def _expunge(click: ButtonClick) -> str:
    bodies = expunge(actor=click.actor, event=click.row, at=click.at)
    return (
        f"Expunged from {bodies} form{'' if bodies == 1 else 's'} of the body. Backups and receivers are not touched."
    )


ENDPOINT_BUTTONS = (
    Button(
        name="enable",
        label="Enable",
        permission=Permission.SWITCH_WEBHOOKS,
        run=_enable,
        explains="Deliveries younger than 72 hours go on at once; older ones count as failed and can be replayed.",
        shown=lambda row: not row.active and row.deleted_at is None,
        icon="play_circle",
    ),
    Button(
        name="disable",
        label="Disable",
        permission=Permission.SWITCH_WEBHOOKS,
        run=_disable,
        explains="Nothing is sent there any more. Unfinished deliveries are frozen; events that happen meanwhile are kept "
        "and can be replayed. The tenant can enable it again.",
        shown=lambda row: row.active,
        icon="pause_circle",
        danger=True,
    ),
    Button(
        name="replay",
        label="Replay",
        permission=Permission.SEND_WEBHOOKS,
        run=_replay,
        explains="Sends a stretch of the past there again, in the background and within the endpoint’s limits. Receivers "
        "know what they have by the same webhook-id. One replay of an endpoint at a time.",
        shown=lambda row: row.active,
        form=ReplayForm,
        icon="replay",
    ),
    Button(
        name="test",
        label="Send test event",
        permission=Permission.SEND_WEBHOOKS,
        run=_sample,
        explains="The catalogue’s example of the type, marked as a test and signed as any message is. Nothing of it is kept.",
        shown=lambda row: row.deleted_at is None,
        form=SampleForm,
        icon="science",
    ),
    Button(
        name="rotate",
        label="Rotate secret",
        permission=Permission.SWITCH_WEBHOOKS,
        run=_rotate,
        explains="A new key of the same kind signs at once, older ones beside it for the overlap. The new secret (of an "
        "Ed25519 key its public half) is shown once; the tenant’s receiver needs it before the overlap ends.",
        shown=lambda row: row.deleted_at is None,
        form=RotationForm,
        icon="key",
        danger=True,
    ),
)
DELIVERY_BUTTONS = (
    Button(
        name="redeliver",
        label="Try now",
        permission=Permission.SEND_WEBHOOKS,
        run=_resend,
        explains="The same bytes under the same webhook-id, at once, also where a retry is waited for; if that fails, the "
        "schedule begins anew.",
        shown=lambda row: row.state in states.RESENDABLE and row.endpoint.active,
        icon="send",
    ),
)
REPLAY_BUTTONS = (
    Button(
        name="cancel",
        label="Stop",
        permission=Permission.SEND_WEBHOOKS,
        run=_cancel,
        explains="Nothing more is queued by it. What it has queued is delivered all the same.",
        shown=lambda row: row.state in states.REPLAYING,
        icon="stop_circle",
        danger=True,
    ),
)
EVENT_BUTTONS = (
    Button(
        name="expunge",
        label="Expunge body",
        permission=Permission.EXPUNGE_WEBHOOKS,
        run=_expunge,
        explains="For what should never have been in an event. What it says is emptied in every form, with what receivers "
        "wrote back; id, type, time and deliveries stay. It cannot be undone. The tenant’s other receivers hear of it "
        "(webhook_event.expunged), so that they can do the same.",
        form=ConfirmedForm,
        icon="ink_eraser",
        danger=True,
    ),
)
