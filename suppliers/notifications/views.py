"""HTTP of notifications, alerts and preferences. Source: contract, supply-order.md 5."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from api.views import ApiViewSet
from core import clock
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from organizations.public import PartyClosed
from suppliers.files.links import content_url

from .actions import change_notification, locked_notification
from .filters import AlertFilters, NotificationFilters
from .messages import send_message
from .places import WHOLE, WITHIN
from .preferences import locked_preferences, replace_preferences
from .refusals import AlertNotAcknowledged, MandatoryAlert
from .representations import CURRENT, LISTED, AlertOut, NotificationOut, NotificationWithThreadOut, PreferencesOut
from .serializers import MessageIn, NotificationIn, PreferencesIn

# Counters tell the total of a member who reaches every place; of the others the rows are counted.
_COUNT: Final = (
    f"SELECT CASE WHEN {WHOLE} THEN (SELECT sum(c.notifications)::bigint FROM suppliers_notificationcounter c"
    " WHERE c.tenant_id = $1 AND c.state = 'current') ELSE (SELECT count(*) FROM suppliers_notification t"
    f" WHERE t.tenant_id = $1 AND {CURRENT} AND {LISTED} AND {WITHIN.sql}) END"
)


class NotificationViewSet(ApiViewSet):
    """Messages and alerts of the tenant."""

    family = "supplier"
    scope_prefix = "notifications:"
    restriction = WITHIN
    serializer_class = NotificationOut
    filterset_class = NotificationFilters
    count_sql = _COUNT
    operation_ids = {"create": "sendMessage"}
    operations = {
        "list": Operation(
            "List notifications",
            "Messages and alerts, the newest first. Archived ones are left out unless `archived` asks for them. `unread` is by "
            "the caller's own marks.",
        ),
        "create": Operation(
            "Send a message",
            "To the other party of a document that both see. Each side gets a notification of its own; both share `thread_id`, "
            "the id of the document. The other side sees the writer's tenant, never the person. Documents that can be named "
            "are reservations (`reservation`), orders, deliveries, invoices and returns. Files are handed over as they are; they "
            "must be ready and not private.",
            body=MessageIn,
            answer=NotificationWithThreadOut,
            run=send_message,
            errors=(InvalidFields, NotFound, PartyClosed),
        ),
        "retrieve": Operation(
            "Get a notification",
            "With its thread: the last hundred messages about the same document, oldest first, and `thread_total`. "
            "`content_url` of a file holds for five minutes.",
            answer=NotificationWithThreadOut,
        ),
        "partial_update": Operation(
            "Change a notification",
            "`read` is the caller's own mark; `acknowledged` and `archived` hold for the tenant. To acknowledge again changes and "
            "records nothing. An open alert is archived once it was acknowledged; it is closed by that. `recall_response` "
            "answers the recall that the alert is about, in base units, and acknowledges the alert; `closed` says that the "
            "buyer has finished, and closes it.",
            body=NotificationIn,
            answer=NotificationWithThreadOut,
            find=locked_notification,
            run=change_notification,
            errors=(InvalidFields, InvalidTransition, VersionConflict, AlertNotAcknowledged, PartyClosed),
        ),
    }

    def answer(
        self, content: bytes, *, tag: str = "", status: int = 200, headers: dict[str, str] | None = None
    ) -> HttpResponse:
        """Answer one notification, with links to the files of its messages."""
        return super().answer(_linked(content, clock.now()), tag=tag, status=status, headers=headers)


class AlertViewSet(ApiViewSet):
    """The open alerts of the tenant."""

    family = "supplier"
    scope_prefix = "notifications:"
    restriction = WITHIN
    serializer_class = AlertOut
    filterset_class = AlertFilters
    operation_ids = {"list": "listAlerts"}
    operations = {
        "list": Operation(
            "List open alerts",
            "An alert is open until its cause has gone, or it is archived; an acknowledged one stays. There is one open alert "
            "for each type and subject, whatever the number of causes.",
        ),
    }


class PreferencesViewSet(ApiViewSet):
    """How the tenant wants to be told."""

    family = "supplier"
    scope_prefix = "notifications:"
    tag = "Notifications"
    singleton = True
    serializer_class = PreferencesOut
    operation_ids = {"retrieve": "getNotificationPreferences", "update": "replaceNotificationPreferences"}
    operations = {
        "retrieve": Operation(
            "Get the preferences", "As long as nothing is stored, each type goes through every channel at once."
        ),
        "update": Operation(
            "Replace the preferences",
            "What is left out takes its default. Mails go to the tenant's administrators, behind the digest and the quiet hours; "
            "alerts of recalls, temperature excursions and compromised keys go at once, and none of their channels can be "
            "switched off (`mandatory_alert`). `in_app` false keeps a type out of the lists, `webhook` false from webhook "
            "endpoints. If nothing differs, nothing is written.",
            body=PreferencesIn,
            find=locked_preferences,
            run=replace_preferences,
            errors=(InvalidFields, MandatoryAlert, VersionConflict),
        ),
    }

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the preferences of the tenant that the request is bound to."""
        return self.retrieve_one(self._tenant_id())


def _linked(content: bytes, at: datetime) -> bytes:
    """Make a link of each `content_url`, which names the tenant that has handed the file over, and the file."""
    if b'"content_url"' not in content:
        return content
    found = orjson.loads(content)
    for one in (found, *found.get("thread", ())):
        for file in one.get("files", ()):
            owner, _, key = file["content_url"].partition("/")
            file["content_url"] = content_url(UUID(owner), UUID(key), at=at)
    return orjson.dumps(found)
