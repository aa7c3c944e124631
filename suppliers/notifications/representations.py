"""Notifications and preferences as the API answers them. In all SQL `t` is the notification's row."""

from typing import Any, Final

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import Computed, OpenChoice, Representation
from core.conditions import TENANT
from core.db import BOUND_SUBJECT
from suppliers.inventory.recalls.representations import RecallResponseOut

from .models import Notification, NotificationPreference
from .places import place_sql, within
from .preferences import DEFAULT, PREFERENCES
from .serializers import ChannelsIn, PreferencesIn, QuietHoursIn
from .states import CHANNELS, FOR_STAFF, TOLD

IN_THREAD: Final = 100
_STAFF: Final = ", ".join(f"'{one}'" for one in sorted(FOR_STAFF))
# What the members of a tenant may read at all, if they reach its place.
SEEN: Final = f"t.type NOT IN ({_STAFF})"
CURRENT: Final = "t.archived_at IS NULL"
LISTED: Final = f"t.in_app AND {SEEN}"
_READ_AT: Final = (
    f"SELECT r.read_at FROM suppliers_notificationread r WHERE r.tenant_id = {TENANT} AND r.subject_id = {BOUND_SUBJECT}"
    " AND r.notification_id = t.id"
)
UNREAD: Final = f"NOT EXISTS ({_READ_AT})"


def _sender(row: str) -> str:
    return (
        f"CASE WHEN {row}.from_tenant_id IS NOT NULL THEN json_build_object('tenant_id', {row}.from_tenant_id,"
        f" 'tenant_name', (SELECT o.name FROM organizations_tenant o WHERE o.id = {row}.from_tenant_id), 'user_id', {row}.sender_id,"
        f" 'user_name', (SELECT nullif(u.name, '') FROM organizations_user u WHERE u.id = {row}.sender_id)) END"
    )


def _files(row: str, *more: str) -> str:
    """The files of a message, with further members."""
    members = [f"'{name}', f.one -> '{name}'" for name in ("id", "name", "content_type", "size")]
    return (
        f"(SELECT coalesce(json_agg(json_build_object({', '.join([*members, *more])}) ORDER BY f.place), '[]')"
        f" FROM jsonb_array_elements({row}.files) WITH ORDINALITY AS f (one, place))"
    )


def _linked_files(row: str) -> str:
    """The files with the owner and the id of each, of which the view makes a link."""
    return _files(row, f"'content_url', {row}.from_tenant_id::text || '/' || (f.one ->> 'id')")


_IN_THREAD: Final = (
    f"FROM suppliers_notification n WHERE n.tenant_id = {TENANT} AND n.thread_id = t.thread_id AND {within('n').sql}"
)
_THREAD: Final = (
    f"SELECT coalesce(json_agg(m.one ORDER BY m.created_at, m.id), '[]') FROM (SELECT n.created_at, n.id, json_build_object('id', n.id,"
    f" 'body', n.body, 'sender', {_sender('n')}, 'files', {_linked_files('n')}, 'created_at', {INSTANT.format('n.created_at')}) AS one"
    f" {_IN_THREAD} ORDER BY n.created_at DESC, n.id DESC LIMIT {IN_THREAD}) m"
)
_THREAD_TOTAL: Final = f"SELECT count(*) {_IN_THREAD}"
_PLACE: Final = place_sql("t")
_ANSWER: Final = (
    f"SELECT c.representation -> 'recall_response' FROM suppliers_receivedrecall c WHERE c.tenant_id = {TENANT}"
    " AND c.id = CASE WHEN t.resource_type = 'recall_notice' THEN t.resource_id::uuid END"
)
# What changes without a new version: the caller's own mark, the thread, the place, the answer to a recall, links to files.
_UNVERSIONED: Final = (
    f"left(md5(concat_ws(' ', ({_READ_AT}), ({_THREAD_TOTAL}), {_PLACE}, ({_ANSWER}), CASE WHEN t.thread_id IS NOT NULL"
    " THEN extract(epoch FROM now())::bigint / 60 END)), 12)"
)


class AboutOut(serializers.Serializer[None]):
    """What a notification is about."""

    type = serializers.CharField(help_text="A document, `stock_level`, `lot`, `license`, `recall`, `recall_notice` …")
    id = serializers.CharField()


class SenderOut(serializers.Serializer[None]):
    """Who has written a message; the person is told to the writer's own tenant alone."""

    tenant_id = serializers.UUIDField()
    tenant_name = serializers.CharField()
    user_id = serializers.UUIDField(allow_null=True)
    user_name = serializers.CharField(allow_null=True)


class AttachmentOut(serializers.Serializer[None]):
    """A file that was handed over with a message, as it was then."""

    id = serializers.UUIDField(help_text="In the writer's tenant.")
    name = serializers.CharField()
    content_type = serializers.CharField()
    size = serializers.IntegerField()


class LinkedAttachmentOut(AttachmentOut):
    """A file that was handed over with a message, and where its content is read."""

    content_url = serializers.URLField(help_text="Holds for five minutes; without a credential.")


class ThreadMessageOut(serializers.Serializer[None]):
    """A message of a thread."""

    id = serializers.UUIDField()
    body = serializers.CharField()
    sender = SenderOut()
    files = LinkedAttachmentOut(many=True)
    created_at = serializers.DateTimeField()


class NotificationOut(Representation):
    """A message or an alert as the tenant has it; `read_at` is the caller's own."""

    resource = Computed("json_build_object('type', t.resource_type, 'id', t.resource_id)", AboutOut())
    sender = Computed(_sender("t"), SenderOut(allow_null=True))
    files = Computed(_files("t"), AttachmentOut(many=True))
    location_id = Computed(_PLACE, serializers.UUIDField(allow_null=True))
    read_at = Computed(
        f"SELECT {INSTANT.format('r.at')} FROM ({_READ_AT}) AS r (at)", serializers.DateTimeField(allow_null=True)
    )
    recall_response = Computed(_ANSWER, RecallResponseOut(allow_null=True))

    class Meta:
        model = Notification
        name = "notification"
        where: Any = LISTED
        fields: Any = (
            "id", "kind", "type", "severity", "title", "body", "resource", "thread_id", "sender", "files", "location_id",
            "read_at", "acknowledged_at", "acknowledged_by", "closed_at", "archived_at", "recall_response", "created_at",
            "updated_at", "version",
        )  # fmt: skip
        unversioned = _UNVERSIONED
        example: Any = {
            "kind": "alert",
            "type": "low_stock",
            "severity": "warning",
            "title": "Low stock: GLV-100",
            "body": "12 base units of GLV-100 are free at Hall 1. The threshold is 20.",
            "resource": {"type": "stock_level", "id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"},
            "thread_id": None,
            "sender": None,
            "files": [],
            "recall_response": None,
        }


class AlertOut(NotificationOut):
    """An alert that is open: its cause holds, and nobody has archived it."""

    class Meta(NotificationOut.Meta):
        name = "alert"
        where: Any = f"t.kind = 'alert' AND t.closed_at IS NULL AND t.archived_at IS NULL AND {LISTED}"


class NotificationWithThreadOut(NotificationOut):
    """A notification with the messages of its thread, the last hundred of them, oldest first."""

    files = Computed(_linked_files("t"), LinkedAttachmentOut(many=True))
    thread = Computed(_THREAD, ThreadMessageOut(many=True))
    thread_total = Computed(_THREAD_TOTAL, serializers.IntegerField())

    class Meta(NotificationOut.Meta):
        where: Any = SEEN
        fields: Any = (*NotificationOut.Meta.fields, "thread", "thread_total")
        example: Any = {**NotificationOut.Meta.example, "thread": [], "thread_total": 0}


def _channels(kind: str) -> str:
    """The channels of a type, as they are stored, or its defaults."""
    settled = f"t.channels -> '{kind}'"
    flags = ", ".join(f"'{name}', coalesce({settled} -> '{name}', 'true')" for name in CHANNELS)
    return f"'{kind}', json_build_object({flags}, 'threshold', coalesce({settled} -> 'threshold', 'null'))"


_TYPES: Final = f"json_build_object({', '.join(map(_channels, TOLD))})"
_QUIET: Final = (
    "CASE WHEN t.quiet_zone <> '' THEN json_build_object('from', to_char(t.quiet_from, 'HH24:MI'),"
    " 'to', to_char(t.quiet_to, 'HH24:MI'), 'timezone', t.quiet_zone) END"
)


class TypesOut(serializers.Serializer[None]):
    """The channels of each type of notification."""

    def get_fields(self) -> dict[str, Any]:
        """One member for each type that a tenant is told of."""
        return {name: ChannelsIn() for name in TOLD}


class PreferencesOut(Representation):
    """How the tenant is told, with the defaults of what it has not settled."""

    types = Computed(_TYPES, TypesOut())
    expiry_days = Computed("to_json(t.expiry_days)", serializers.ListField(child=serializers.IntegerField()))
    digest = OpenChoice(choices=PreferencesIn().fields["digest"].choices)  # type: ignore[attr-defined]
    quiet_hours = Computed(_QUIET, QuietHoursIn(allow_null=True))

    class Meta:
        model = NotificationPreference
        name = "notification preferences"
        rows = f"({PREFERENCES})"
        key = "tenant_id"
        fields = (
            "types",
            "expiry_days",
            "low_stock_default",
            "digest",
            "quiet_hours",
            "created_at",
            "updated_at",
            "version",
        )
        example: Any = {
            **PreferencesIn.Meta.example,
            "types": {name: {**DEFAULT} for name in TOLD},
            "low_stock_default": None,
        }
