"""The HTTP client of `./dev demo`, and how its steps are told."""

import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.receiver import Receiver

RETRIES = 60
LONGEST_PAUSE_SECONDS = 60
FIRST_PAUSE_SECONDS, LAST_PAUSE_SECONDS = 0.1, 1.0
WAIT_SECONDS = 180.0  # where the machine is busy, what works behind the answers takes its time


class DemoFailed(Exception):
    """A step did not end as it should."""


@dataclass
class Answer:
    """One HTTP answer."""

    status: int
    headers: dict[str, str]
    body: Any


@dataclass
class Caller:
    """An HTTP client with one credential."""

    base_url: str
    headers: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send one request; try again as a partner's client would while the service restarts (refused, 503), and after 429."""
        for attempt in range(RETRIES):
            try:
                answer = self._once(method, path, body, headers)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                answer = None
            if answer is not None and answer.status not in (429, 503):
                return answer
            time.sleep(_pause(answer, attempt))
        raise DemoFailed(f"{method} {path}: the service does not answer")

    def _once(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        is_encoded = body is None or isinstance(body, bytes)
        data = body if is_encoded else json.dumps(body).encode()
        merged = {"Content-Type": "application/json", **self.headers, **headers}
        request = urllib.request.Request(self.base_url + path, data=data, method=method, headers=merged)
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                return Answer(response.status, dict(response.headers), _json(response.read()))
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), _json(error.read()))


def _pause(answer: Answer | None, attempt: int) -> float:
    """Return how many seconds to wait: what a limit of requests asks for, else a little longer each time."""
    if answer is not None and answer.status == 429:
        return float(min(answer.body["retry_after"], LONGEST_PAUSE_SECONDS))
    return min(0.25 * (attempt + 1), 2)


def _json(content: bytes) -> Any:
    return json.loads(content) if content else None


def step(text: str) -> None:
    """Print one step that went well."""
    print(f"  ok  {text}", flush=True)


def expect(answer: Answer, status: int, what: str) -> Any:
    """Return the answer's body.

    :raises DemoFailed: another status.
    """
    if answer.status != status:
        raise DemoFailed(f"{what}: {answer.status} instead of {status}: {json.dumps(answer.body)[:500]}")
    return answer.body


def once() -> dict[str, str]:
    """Return an Idempotency-Key of its own, so that a lost answer can be asked for again."""
    return {"Idempotency-Key": secrets.token_hex(16)}


def form(name: str, media: str, content: bytes, **texts: str) -> tuple[bytes, str]:
    """Return the body of a multipart form with a file and texts, and its content type. Source: RFC 7578."""
    boundary = secrets.token_hex(16)
    parts = [f'form-data; name="{key}"\r\n\r\n{value}'.encode() for key, value in texts.items()]
    head = f'form-data; name="file"; filename="{name}"\r\nContent-Type: {media}\r\n\r\n'
    parts.append(head.encode() + content)
    mark = f"--{boundary}".encode()
    body = b"".join(mark + b"\r\nContent-Disposition: " + part + b"\r\n" for part in parts) + mark + b"--\r\n"
    return body, f"multipart/form-data; boundary={boundary}"


def listen(caller: Caller, receiver: Receiver, *events: str) -> str:
    """Register the receiver as a webhook endpoint for patterns of events, hand it the secret, and return the id."""
    body = {"url": receiver.url, "events": list(events), "description": "demo"}
    made = caller.call("POST", "/v1/webhooks", body, **{"Idempotency-Key": f"demo-{secrets.token_hex(8)}"})
    data = expect(made, 201, "register a webhook")["data"]
    if data["secret"] is None:  # the answer that showed it was lost on its way: the replay does not
        rotated = caller.call("POST", f"/v1/webhooks/{data['id']}/rotate-secret", {})
        data = expect(rotated, 200, "rotate the secret")["data"]
    receiver.secrets.append(data["secret"])
    return str(data["id"])


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Ask again until something is so, at longer and longer intervals, so that the asking does not reach a limit of requests.

    :raises DemoFailed: it is not within three minutes.
    """
    until, pause = time.monotonic() + WAIT_SECONDS, FIRST_PAUSE_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise DemoFailed(f"{what}: not within {WAIT_SECONDS:.0f} s")
        time.sleep(pause)
        pause = min(pause * 1.2, LAST_PAUSE_SECONDS)
