"""Refusals of this room."""

from core.errors import Conflict, Malformed


class MandatoryAlert(Malformed):
    """The preferences switch off a channel of an alert that keeps people from harm, or hide messages; `errors` names each."""

    code = "mandatory_alert"
    title = "What keeps people from harm cannot be switched off, nor can messages be hidden."


class AlertNotAcknowledged(Conflict):
    """An open alert is archived only once it was acknowledged."""

    code = "alert_not_acknowledged"
    title = "The alert is open and was not acknowledged."
