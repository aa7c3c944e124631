"""One delivery: sign, send, and judge the answer. Knows no queue."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core import clock
from core.crypto import SealBroken
from core.ids import uuid7

from . import envelope, schedule, sealing, signing, states
from .egress import Answer, Egress
from .queues import Outcome, Target, Work

log = logging.getLogger(__name__)

USER_AGENT = "HealthcarePlatform-Webhooks/1.0"
LOST_CLAIMS = 5
_LOST, _EXPUNGED, _NO_SECRET = "worker_lost", "event_expunged", "no_usable_secret"
_NOT_ASKED = frozenset({_LOST, _EXPUNGED, _NO_SECRET})
_HOPELESS = frozenset({"blocked_destination", "invalid_url", _EXPUNGED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means: `delay_seconds` None ends the delivery, `pause_seconds` rests the whole endpoint."""

    state: str
    delay_seconds: float | None = None
    pause_seconds: float | None = None


def judge(answer: Answer, *, number: int, at: datetime, steps: Sequence[float], probe: bool = False) -> Verdict:
    """Tell what follows from the `number`-th attempt's answer.

    Only 2xx is success. 3xx and 4xx are tried again, because receivers get mended; 410 and addresses that the platform
    never dials are not. A probe of an open circuit is no step of the schedule: it can only end well, or be made again.
    """
    if answer.status is not None and 200 <= answer.status < 300:
        return Verdict(states.DELIVERED)
    if answer.status == schedule.GONE or answer.error in _HOPELESS:
        return Verdict(states.FAILED)
    wanted = schedule.retry_after_seconds(answer.status or 0, answer.headers.get("retry-after"), at=at)
    step = max(number - 1, 1) if probe else number
    delay = schedule.next_delay_seconds(step, schedule=steps, retry_after_seconds=wanted)
    pause = schedule.pause_seconds(wanted, schedule=steps)
    return Verdict(states.FAILED if delay is None else states.RETRYING, delay, pause)


async def deliver(
    egress: Egress, work: Work, url: str, keys: Sequence[signing.SigningKey], *, steps: Sequence[float]
) -> Outcome:
    """Send one message, signed with each key, and tell what became of it."""
    at, began = clock.now(), time.perf_counter()
    answer = await _send(egress, work, url, keys, at)
    duration_ms = int((time.perf_counter() - began) * 1000)
    asked = answer.error not in _NOT_ASKED
    probe = work.trigger == states.PROBE and asked
    verdict = judge(answer, number=work.attempts + 1 - work.attempts_before, at=at, steps=steps, probe=probe)
    spared = probe and verdict.state == states.RETRYING
    return Outcome(
        attempt_id=uuid7(),
        at=at,
        delivery_id=work.delivery_id,
        created_at=work.created_at,
        tenant_id=work.tenant_id,
        endpoint_id=work.endpoint_id,
        number=work.attempts + 1,
        attempts_before=work.attempts_before + 1 if spared else work.attempts_before,
        status=answer.status,
        error=answer.error,
        duration_ms=duration_ms,
        excerpt=answer.excerpt,
        headers=answer.headers,
        timings=answer.timings,
        remote_ip=answer.remote_ip or None,
        trigger=states.SCHEDULE if work.trigger == states.PROBE and not asked else work.trigger,
        state=verdict.state,
        delay_seconds=verdict.delay_seconds,
        pause_seconds=verdict.pause_seconds,
        asked=asked,
    )


async def _send(egress: Egress, work: Work, url: str, keys: Sequence[signing.SigningKey], at: datetime) -> Answer:
    if work.claims - work.attempts > LOST_CLAIMS:
        # Whoever took it never came back: it may be what kills the workers, so it waits like any failure.
        return Answer(status=None, error=_LOST)
    if work.body is None:
        return Answer(status=None, error=_EXPUNGED)
    if not keys:
        return Answer(status=None, error=_NO_SECRET)
    message_id = envelope.message_id(work.event_id)
    headers = signing.headers(keys, message_id=message_id, at=at, body=work.body)
    return await egress.post(
        url,
        body=work.body,
        headers={**headers, "content-type": "application/json", "user-agent": USER_AGENT},
    )


def signing_keys(target: Target) -> list[signing.SigningKey]:
    """Open an endpoint's live keys, newest first; one that cannot be opened is left out and logged."""
    keys = []
    for secret_id, kind, sealed in target.sealed_keys:
        try:
            keys.append(signing.SigningKey(kind, sealing.open_key(sealed, endpoint_id=target.id, secret_id=secret_id)))
        except SealBroken:
            log.error("signing key cannot be opened", extra={"endpoint": str(target.id), "secret": str(secret_id)})
    return keys
