"""What codes and states mean, in words that somebody on the telephone can read out."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from webhooks import states
from webhooks.models import Attempt, Delivery, Endpoint, EndpointHealth

COLOURS: Final = {
    "active": "success",
    "delivered": "success",
    "completed": "success",
    "created": "info",
    "pending": "info",
    "queued": "info",
    "running": "info",
    "retrying": "warning",
    "failing": "warning",
    "resting": "warning",
    "held back": "warning",
    "cancelled": "warning",
    "failed": "danger",
    "disabled": "danger",
    "deleted": "danger",
}

ERRORS: Final = {
    "blocked_destination": "the platform does not connect to such an address",
    "invalid_url": "the address is not a valid URL",
    "dns_failed": "the host name was not found",
    "connection_refused": "the receiver did not take the connection",
    "connection_lost": "the connection broke",
    "connect_timeout": "no connection within 5 s",
    "timeout": "no complete answer within 15 s",
    "tls_failed": "TLS could not be agreed on",
    "certificate_expired": "the certificate is out of date",
    "certificate_of_other_name": "the certificate is for another name",
    "certificate_untrusted": "nobody we trust vouches for the certificate",
    "broken_answer": "the answer was not proper HTTP",
    "proxy_away": "our own way out is away",
    "worker_lost": "the worker that took it never came back",
    "no_usable_secret": "no signing key could be opened",
    "body_expired": "the body in full is no longer kept",
    "expired": "frozen with its endpoint for longer than it may be resumed",
    "endpoint_deleted": "the endpoint was deleted",
}

DISABLED: Final = {
    "by_user": "its owner switched it off",
    "gone": "its receiver answered 410 Gone",
    "failing": "it accepted nothing for 72 hours",
}


def error_words(error: str) -> str:
    """Put an error code into words."""
    return ERRORS.get(error, error.replace("_", " "))


def answer_words(attempt: Attempt) -> str:
    """Say what an attempt met."""
    if attempt.status is None:
        return f"No answer: {error_words(attempt.error)}"
    if 200 <= attempt.status < 300:
        return f"Accepted with {attempt.status}"
    return f"Answered {attempt.status}" + (f" ({error_words(attempt.error)})" if attempt.error else "")


def sample_words(told: Mapping[str, Any]) -> str:
    """Say what became of a test event."""
    met = f"answered {told['status']}" if told["status"] else f"no answer: {error_words(told['error'] or '')}"
    return f"Test event {told['webhook_id']}: {met}, after {told['duration_ms']} ms."


def trigger_words(attempt: Attempt, *, is_first: bool) -> str:
    """Say why this attempt was made."""
    if attempt.trigger == states.PROBE:
        return "trial of a resting endpoint; does not count for the schedule"
    if attempt.trigger == states.MANUAL:
        return "sent again on purpose"
    return "first try" if is_first else "retry by the schedule"


def delivery_words(delivery: Delivery, endpoint: Endpoint, *, is_queued: bool, at: datetime) -> str:
    """Say in one or two sentences how things stand with a delivery."""
    tries = f"{delivery.attempts} attempt{'' if delivery.attempts == 1 else 's'}"
    if delivery.state == states.DELIVERED:
        return f"The receiver accepted it after {tries}."
    if delivery.state == states.FAILED:
        why = error_words(delivery.last_error) if delivery.last_error else _status(delivery)
        return f"Given up after {tries}: {why}. Nothing more happens by itself; it can be sent again."
    if not endpoint.active:
        return "Frozen, because the endpoint is disabled. It goes on when the endpoint is enabled within 72 hours."
    if not is_queued:
        return "Not queued: it was frozen with its endpoint and has not been taken up again."
    if delivery.state == states.CREATED or not delivery.attempts:
        return "Queued for its first attempt."
    return f"Not accepted so far, after {tries}. The next one {when_words(delivery.next_attempt_at, at)}."


def endpoint_state(endpoint: Endpoint, health: EndpointHealth | None, at: datetime) -> tuple[str, str]:
    """Name an endpoint's state, and say what it means now."""
    if endpoint.deleted_at is not None:
        return "deleted", "Deleted; its history stays."
    if not endpoint.active:
        why = DISABLED.get(endpoint.disabled_reason, endpoint.disabled_reason or "no reason was kept")
        by = f", by {endpoint.disabled_by}" if endpoint.disabled_by else ""
        return "disabled", f"Disabled{by}: {why}. Unfinished deliveries are frozen; new events are kept for a replay."
    if health is None:
        return "active", "Works."
    return _health_state(health, at)


def _health_state(health: EndpointHealth, at: datetime) -> tuple[str, str]:
    since = f" since {_instant(health.failing_since)}" if health.failing_since else ""
    failures = f"{health.consecutive_failures} failures in a row{since}"
    if health.circuit_state == states.OPEN and health.circuit_until and health.circuit_until > at:
        return (
            "resting",
            f"Rests after {failures}; a trial goes out {when_words(health.circuit_until, at)}, at {_instant(health.circuit_until)}.",
        )
    if health.circuit_state == states.HALF_OPEN:
        return "resting", f"{failures}; a trial is under way."
    if health.paused_until and health.paused_until > at:
        return (
            "held back",
            f"Its receiver asked us to wait; we go on {when_words(health.paused_until, at)}, at {_instant(health.paused_until)}.",
        )
    if health.consecutive_failures:
        return "failing", f"{failures}. A mail goes out after 24 hours, after 72 it is disabled."
    return "active", "Works."


def _instant(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def when_words(moment: datetime | None, at: datetime) -> str:
    """Say how far off a moment is."""
    if moment is None:
        return "at a time not fixed yet"
    distance = moment - at
    return f"in {span_words(distance)}" if distance > timedelta(seconds=1) else "is due now"


def span_words(span: timedelta) -> str:
    """Write a length of time in its one or two largest units."""
    seconds = max(0, int(span.total_seconds()))
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    parts: list[str] = []
    for name, length in units:
        amount, seconds = divmod(seconds, length)
        if amount:
            parts.append(f"{amount} {name}")
    return " ".join(parts[:2]) or "0 s"


def _status(delivery: Delivery) -> Any:
    return f"the last answer was {delivery.last_status}" if delivery.last_status else "no reason was kept"
