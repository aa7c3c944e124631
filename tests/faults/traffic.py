"""Load during the kills: clients that write products and try again as partners would, the demo's walk, a receiver."""

import http.client
import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from types import TracebackType
from typing import Any, Self

from bench import demo
from bench.demo_http import Answer
from bench.receiver import Arrival as Request
from bench.receiver import Receiver, Reply
from tests.faults.verdicts import Arrival, Evidence, Write

CLIENTS = 6
FULL_PER_SECOND = 45.0
ORDINARY_PER_SECOND = 15.0  # what one sending process carries to one endpoint while other tests use the machine
PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 60.0
TIMEOUT_SECONDS = 10.0
GIVES_UP_EACH = 7
AGAIN = frozenset({"idempotency_in_progress", "concurrent_update"})


@dataclass
class Client:
    """One keep-alive connection with one credential; it never tries again by itself."""

    port: int
    headers: dict[str, str]
    line: http.client.HTTPConnection | None = None

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer | None:
        """Send one request; None when the connection was refused, reset or silent."""
        try:
            if self.line is None:
                self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)
            data = None if body is None else json.dumps(body).encode()
            sent = {"Content-Type": "application/json", **self.headers, **headers}
            self.line.request(method, path, body=data, headers=sent)
            response = self.line.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return None
        if response.will_close:
            self.close()
        named = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, named, json.loads(content) if content else None)

    def close(self) -> None:
        """Drop the connection."""
        if self.line is not None:
            self.line.close()
        self.line = None


def product(sku: str) -> dict[str, Any]:
    """Return the body that creates a product."""
    packaging = {"level": "case", "name": "Box of 100", "units_per_pack": 100, "orderable": True}
    about = {"name": f"Gloves {sku}", "category": "consumables", "kind": "consumable", "base_unit": "EA"}
    return {"supplier_sku": sku, "packagings": [packaging], "status": "active", **about}


def credential(story: dict[str, Any], supplier: str) -> dict[str, str]:
    """Return the headers of a demo supplier's API key."""
    return {"X-API-Key": story["api_keys"][supplier], "X-Tenant-Id": story["tenants"][supplier]["id"]}


@dataclass
class Traffic:
    """Writers, walk and receiver for as long as the context is open; `evidence` grows meanwhile."""

    port: int
    story: dict[str, Any]
    per_second: float = ORDINARY_PER_SECOND
    evidence: Evidence = field(default_factory=Evidence)
    mark: str = field(default_factory=lambda: f"K{secrets.token_hex(4)}-")
    walks: int = 0
    failed_walks: list[str] = field(default_factory=list)
    endpoint_id: str = ""

    def __post_init__(self) -> None:
        self.tenant_id = str(self.story["tenants"]["other_supplier"]["id"])
        self._stop = threading.Event()
        self._receiver = Receiver(script=self._note)
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(CLIENTS)]
        self._threads.append(threading.Thread(target=self._walk))

    def __enter__(self) -> Self:
        self._receiver.__enter__()
        client = self.client()
        body = {"url": self._receiver.url, "events": ["product.created"], "description": "faults"}
        made = client.send("POST", "/v1/webhooks", body)
        assert made is not None
        assert made.status == 201, made
        self.endpoint_id = made.body["data"]["id"]
        self._receiver.secrets.append(made.body["data"]["secret"])
        client.close()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
        client = self.client()
        client.send("DELETE", f"/v1/webhooks/{self.endpoint_id}")  # else its retries would delay all later traffic
        client.close()
        self._receiver.__exit__(kind, error, trace)

    def client(self) -> Client:
        """Return a client of the supplier whose products are counted."""
        return Client(self.port, credential(self.story, "other_supplier"))

    def finish(self) -> None:
        """Begin nothing new; return when every write under way has its answer."""
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS + TIMEOUT_SECONDS)

    def acknowledged_after(self, moment: float) -> Write | None:
        """Return a write whose last try began after the moment and was answered."""
        return next(self._answered_since(moment), None)

    def delivered_after(self, moment: float) -> Arrival | None:
        """Return the first delivery of a product whose creation began after the moment."""
        fresh = {found.product_id for found in self._answered_since(moment)}
        late = takewhile(lambda found: found.at > moment, reversed(self.evidence.arrivals.copy()))
        return min((found for found in late if found.product_id in fresh), key=lambda found: found.at, default=None)

    def _answered_since(self, moment: float) -> Iterator[Write]:
        """Yield the writes that were begun or tried again after the moment and were answered."""
        oldest = moment - PATIENCE_SECONDS  # no client insists for longer
        recent = takewhile(lambda found: found.began_at > oldest, reversed(self.evidence.writes.copy()))
        return (found for found in recent if found.acknowledged and found.last_try_at > moment)

    def _note(self, request: Request, _number: int) -> Reply:
        verified = request.verified_by(self._receiver.secrets)
        thing = request.event()["data"]["object"]["id"]
        self.evidence.arrivals.append(Arrival(thing, request.message_id, time.time(), verified))
        return Reply()

    def _write(self, number: int) -> None:
        client, count = self.client(), 0
        due = time.monotonic()
        while not self._stop.is_set():
            sku = f"{self.mark}{number}-{count}"
            write = Write(sku=sku, key=secrets.token_hex(16), began_at=time.time())
            self.evidence.writes.append(write)
            _insist(client, write, patient=count % GIVES_UP_EACH > 0)
            count += 1
            due = max(due + CLIENTS / self.per_second, time.monotonic() - 1)
            self._stop.wait(max(0.0, due - time.monotonic()))
        client.close()

    def _walk(self) -> None:
        while not self._stop.wait(0.5):
            try:
                demo.walk(self.story)
                self.walks += 1
            except demo.DemoFailed as failure:
                self.failed_walks.append(str(failure))


def _insist(client: Client, write: Write, *, patient: bool) -> None:
    """Ask until the product is acknowledged, with one key; an impatient client leaves after its first lost answer."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        write.attempts, write.last_try_at = write.attempts + 1, time.time()
        answer = client.send("POST", "/v1/products", product(write.sku), **{"Idempotency-Key": write.key})
        if answer is not None and answer.status == 201:
            write.answered_at, write.product_id = time.time(), answer.body["data"]["id"]
            return
        if answer is not None and answer.status != 503 and answer.body.get("code") not in AGAIN:
            write.refusal = f"{answer.status} {answer.body.get('code')}"
            return
        if not patient:
            return
        time.sleep(PAUSE_SECONDS)
    write.refusal = "no answer in time"
