"""The HTTP client of `./dev demo`, and how its steps are told."""

import json
import secrets
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from bench.receiver import Receiver

RETRIES = 60


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
        """Send one request; while the service restarts (refused, 503) try again, as a partner's client would."""
        for attempt in range(RETRIES):
            try:
                answer = self._once(method, path, body, headers)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                answer = None
            if answer is not None and answer.status != 503:
                return answer
            time.sleep(min(0.25 * (attempt + 1), 2))
        raise DemoFailed(f"{method} {path}: the service does not answer")

    def _once(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        data = json.dumps(body).encode() if body is not None else None
        merged = {"Content-Type": "application/json", **self.headers, **headers}
        request = urllib.request.Request(self.base_url + path, data=data, method=method, headers=merged)
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                return Answer(response.status, dict(response.headers), _json(response.read()))
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), _json(error.read()))


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


def listen(caller: Caller, receiver: Receiver, events: str) -> str:
    """Register the receiver as a webhook endpoint for a pattern of events, hand it the secret, and return the id."""
    body = {"url": receiver.url, "events": [events], "description": "demo"}
    made = caller.call("POST", "/v1/webhooks", body, **{"Idempotency-Key": f"demo-{secrets.token_hex(8)}"})
    data = expect(made, 201, "register a webhook")["data"]
    if data["secret"] is None:  # the answer that showed it was lost on its way: the replay does not
        rotated = caller.call("POST", f"/v1/webhooks/{data['id']}/rotate-secret", {})
        data = expect(rotated, 200, "rotate the secret")["data"]
    receiver.secrets.append(data["secret"])
    return str(data["id"])
