"""A storm: business transactions commit and roll back while worker trees, Valkey and PostgreSQL go down, and who says no.

Source: webhooks contract, "Chaos"; test plan, group 8.
"""

import json
import random
import secrets
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from bench.receiver import Arrival as Request
from bench.receiver import Receiver, Reply
from devtools.places import ROOT
from tests.faults import service as parts
from tests.faults.service import PATIENCE_SECONDS, Service, environment, kill, wait_for
from tests.faults.traffic import Client, credential
from tests.faults.verdicts import Arrival, Evidence, Kept, Write, read

BUSY = 0.05
HANGS_EACH = 80
HANGS_SECONDS = 4.0
BETWEEN_ARRIVALS = 8


def kill_worker_trees(service: Service) -> None:
    """Kill -9 both workers and all their children at once."""
    service.look_around()
    kill(*wait_for(lambda: parts.worker_trees(service), what="the workers"))


Strike = Callable[[Service], None]
ORDINARY: tuple[Strike, ...] = (
    kill_worker_trees,
    kill_worker_trees,
    parts.forget_valkey,
    kill_worker_trees,
    parts.restart_postgres,
    kill_worker_trees,
    parts.forget_valkey,
    kill_worker_trees,
    kill_worker_trees,
)


@dataclass
class Storm:
    """A producer and a receiver for as long as the context is open; `evidence` and `requests` grow meanwhile."""

    service: Service
    per_second: float = 15
    evidence: Evidence = field(default_factory=Evidence)
    requests: list[Request] = field(default_factory=list)
    replies: Counter[str] = field(default_factory=Counter)
    mark: str = field(default_factory=lambda: f"C{secrets.token_hex(4)}-")
    endpoint_id: str = ""
    secret: str = ""

    def __post_init__(self) -> None:
        self.tenant_id = str(self.service.demo["tenants"]["other_supplier"]["id"])
        self._chance = random.Random(self.mark)
        self._receiver = Receiver(script=self._reply)
        self._producer: subprocess.Popen[str] | None = None
        self._reader = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._receiver.__enter__()
        made = self._ask("POST", "/v1/webhooks", {"url": self._receiver.url, "events": ["product.created"]})
        self.endpoint_id, self.secret = made["data"]["id"], made["data"]["secret"]
        options = ["--data", str(self.service.data), "--tenant", self.tenant_id, "--mark", self.mark]
        with (self.service.folder / "producer.log").open("ab") as log:
            self._producer = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.producer", *options, "--per-second", str(self.per_second)],
                env=environment(**self.service.variables),
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
        self._ask("DELETE", f"/v1/webhooks/{self.endpoint_id}")
        self._receiver.__exit__(kind, error, trace)

    def finish(self) -> None:
        """Begin no more transactions; return when every one has come to its end."""
        assert self._producer is not None
        assert self._producer.stdin is not None
        self._producer.stdin.close()
        self._reader.join(PATIENCE_SECONDS)
        assert self._producer.stdout is not None
        self._producer.stdout.close()
        assert self._producer.wait(PATIENCE_SECONDS) == 0, (self.service.folder / "producer.log").read_text()

    def kept(self) -> Kept:
        """Return what PostgreSQL holds now."""
        with self.service.connect() as connection:
            return read(connection, tenant_id=self.tenant_id, endpoint_id=self.endpoint_id, mark=self.mark)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        client = Client(self.service.port, credential(self.service.demo, "other_supplier"))
        answer = wait_for(lambda: client.send(method, path, body), what=f"{method} {path}")
        client.close()
        assert answer.status in (201, 204), answer
        return answer.body

    def _reply(self, request: Request, number: int) -> Reply:
        self.requests.append(request)
        thing = request.event()["data"]["object"]["id"]
        verified = request.verified_by([self.secret]) if self.secret else True  # before the secret's answer is read
        self.evidence.arrivals.append(Arrival(thing, request.message_id, time.time(), verified))
        if number % HANGS_EACH == 10:
            self.replies["hung"] += 1
            return Reply(delay_seconds=HANGS_SECONDS)
        if self._chance.random() < BUSY:
            self.replies["busy"] += 1
            return Reply(status=503)
        self.replies["well"] += 1
        return Reply()

    def _read(self) -> None:
        assert self._producer is not None
        assert self._producer.stdout is not None
        for line in self._producer.stdout:
            told = json.loads(line)
            self.evidence.writes.append(
                Write(
                    sku=told["sku"],
                    key="",
                    began_at=told["began_at"],
                    answered_at=told.get("answered_at"),
                    product_id=told.get("product_id", ""),
                    rolled_back=told.get("rolled_back", False),
                )
            )


@dataclass(frozen=True)
class Outcome:
    """A storm in figures."""

    committed: int
    rolled_back: int
    unconfirmed: int
    events: int
    deliveries: int
    requests: int
    duplicates: int
    replies: dict[str, int]
    strikes: dict[str, int]
    storm_seconds: float
    drain_seconds: float

    def shown(self) -> str:
        """One paragraph."""
        return (
            f"{self.committed} committed, {self.rolled_back} rolled back, {self.unconfirmed} unconfirmed transactions in"
            f" {self.storm_seconds:.0f} s; {self.strikes}; {self.events} events, {self.deliveries} delivered in"
            f" {self.requests} requests ({self.replies}), {self.duplicates} of them doubled by a kill; drained"
            f" {self.drain_seconds:.1f} s after the end"
        )


def rage(storm: Storm, strikes: Sequence[Strike]) -> Outcome:
    """Strike whenever deliveries have come again since the last strike; afterwards wait until nothing is owed."""
    began = time.monotonic()
    for strike in strikes:
        more = len(storm.requests) + BETWEEN_ARRIVALS
        wait_for(lambda more=more: len(storm.requests) >= more, what=f"deliveries before {strike.__name__}")
        strike(storm.service)
        print(f"{time.monotonic() - began:6.1f} s {strike.__name__}")
    storm.finish()
    ended = time.monotonic()
    wait_for(lambda: storm.kept().queued == 0, every=0.5, what="the end of the queue")
    drained = time.monotonic()
    kept, writes = storm.kept(), storm.evidence.writes
    ids = {request.message_id for request in storm.requests}
    return Outcome(
        committed=sum(write.acknowledged for write in writes),
        rolled_back=sum(write.rolled_back for write in writes),
        unconfirmed=sum(not write.acknowledged and not write.rolled_back for write in writes),
        events=sum(kept.events.values()),
        deliveries=kept.states.get("delivered", 0),
        requests=len(storm.requests),
        duplicates=len(storm.requests) - len(ids) - storm.replies["busy"] - storm.replies["hung"],
        replies=dict(storm.replies),
        strikes=dict(Counter(strike.__name__ for strike in strikes)),
        storm_seconds=ended - began,
        drain_seconds=drained - ended,
    )
