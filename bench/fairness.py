"""`./dev bench fairness`: what one tenant's costliest work does to another tenant, beside the same requests while it is quiet.

One tenant sends, from twenty connections, batches of 5,000 reads, searches with `:contains` of 50, exports, requests that it
closes after 0.3 s and answers that it reads half. Another lists products, reads a patient and signs in, one request after
another, and somebody asks `/health/live`. Quiet, load and the floor take turns: the floor is what the machine does by itself,
beside processes that only compute, one for each core. The busy tenant's program runs at a low priority, since it would run on
machines of its own; so do the workers that write the exports, as in service.
"""

import argparse
import http.client
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median, quantiles
from string import ascii_lowercase
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from devtools.parts import BACKGROUND, worker_command
from devtools.places import ROOT
from devtools.processes import die_with_parent

from . import fhir as fhir_bench
from . import load
from .fhir_requests import BASE, World, request
from .place import HIGH, Place, backends_of, open_place, serving, setup_django
from .report import machine_line

RESULTS = ROOT / "bench" / "results" / "fairness.md"
CONNECTIONS = 20
ENTRIES = 5_000
ALTERNATIVES = 50  # of `:contains`; more are refused
EARLY_SECONDS = 0.3
EXPORT_SECONDS = 4.0
PAUSE_SECONDS = 0.01
CLIENT_NICENESS = 19
PASSWORD = "bench-fairness-password"


@dataclass
class Seen:
    """The milliseconds and statuses of one kind of request."""

    ms: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, several: list["Seen"]) -> "Seen":
        """All of them together."""
        return cls([ms for one in several for ms in one.ms], sum((one.statuses for one in several), Counter()))

    @property
    def p99(self) -> float:
        """The 99th of a hundred."""
        return quantiles(self.ms, n=100)[98] if len(self.ms) > 1 else 0.0


Phase = dict[str, Seen]


class Round(NamedTuple):
    """What was observed of each kind of request while all was quiet, beside computing, and beside the load."""

    quiet: Phase
    floor: Phase
    loaded: Phase


def ask(port: int, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> int:
    """Send one request on a connection of its own and return the status."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        line.request(method, path, body or None, headers)
        answer = line.getresponse()
        answer.read()
        return answer.status
    finally:
        line.close()


def victim(port: int, spec: dict[str, Any]) -> dict[str, Callable[[], int]]:
    """What the other tenant does."""
    shelf, clinic, person = spec["shelf"], spec["clinic"], spec["person"]
    signing = json.dumps({"email": person, "password": PASSWORD}).encode()
    listing = {"Authorization": f"Bearer {shelf['token']}", "X-Tenant-Id": shelf["tenant"]}
    reading = {"Authorization": f"Bearer {clinic['token']}"}
    return {
        "product list": lambda: ask(port, "GET", "/v1/products?limit=1", listing),
        "FHIR read": lambda: ask(port, "GET", f"{BASE}/Patient/{spec['patient']}", reading),
        "sign-in": lambda: ask(port, "POST", "/v1/auth/token", {"Content-Type": "application/json"}, signing),
        "/health/live": lambda: ask(port, "GET", "/health/live", {}),
    }


def observe(kinds: dict[str, Callable[[], int]], seconds: float) -> Phase:
    """Send the requests in turn for some seconds, a sign-in with every second of the others."""
    found = {name: Seen() for name in kinds}
    until = time.monotonic() + seconds
    for number in itertools.count():
        for name, send in kinds.items():
            if name == "sign-in" and number % 2:
                continue
            started = time.perf_counter()
            status = send()
            found[name].ms.append((time.perf_counter() - started) * 1000)
            found[name].statuses[status] += 1
            time.sleep(PAUSE_SECONDS)
        if time.monotonic() > until:
            break
    return found


class Attack:
    """The costliest allowed work of one tenant, each kind by a function that sends it on a line of its own."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.over = threading.Event()
        self.answers: Counter[str] = Counter()
        self.headers = {"Authorization": f"Bearer {spec['attacker']['token']}", "Content-Type": "application/fhir+json"}
        reads = [{"request": {"method": "GET", "url": f"Patient/{spec['own_patient']}"}}] * ENTRIES
        self.bundle = json.dumps({"resourceType": "Bundle", "type": "batch", "entry": reads}).encode()
        pairs = map("".join, itertools.product(ascii_lowercase, repeat=2))
        names = ",".join(itertools.islice(pairs, ALTERNATIVES))
        self.search = f"{BASE}/Patient?name:contains={names}&_count=1000"
        self.kinds = (self.batch, self.whole, self.closed, self.half, self.export)

    def batch(self, line: http.client.HTTPConnection) -> int:
        """Let 5,000 entries be read."""
        line.request("POST", BASE, self.bundle, self.headers)
        return _read(line).status

    def whole(self, line: http.client.HTTPConnection) -> int:
        """Search."""
        line.request("GET", self.search, headers=self.headers)
        return _read(line).status

    def closed(self, line: http.client.HTTPConnection) -> None:
        """Search, and do not wait for the answer."""
        line.request("GET", self.search, headers=self.headers)
        time.sleep(EARLY_SECONDS)

    def half(self, line: http.client.HTTPConnection) -> int:
        """Search, and read the beginning of the answer."""
        line.request("GET", self.search, headers=self.headers)
        status = _read(line, 1_000).status
        self.over.wait(1.0)
        return status

    def export(self, line: http.client.HTTPConnection) -> int:
        """Let everything be exported, and cancel that after a while."""
        line.request("GET", f"{BASE}/$export", headers=self.headers | {"Prefer": "respond-async"})
        answer = _read(line)
        self.over.wait(EXPORT_SECONDS)
        if place := answer.getheader("Content-Location"):
            line.request("DELETE", urlsplit(place).path, headers=self.headers)
            _read(line)
        return answer.status

    def run(self, port: int) -> None:
        """Send from many connections until standard input ends, then tell what was answered."""
        for number in range(CONNECTIONS):
            threading.Thread(target=self._work, args=(port, number), daemon=True).start()
        sys.stdin.read()
        self.over.set()
        print(json.dumps(self.answers), flush=True)

    def _work(self, port: int, number: int) -> None:
        while not self.over.is_set():
            kind = self.kinds[number % len(self.kinds)]
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            with suppress(OSError, http.client.HTTPException):
                self.answers[f"{kind.__name__} {kind(line) or ''}".strip()] += 1
            line.close()
            number += 1


def _read(line: http.client.HTTPConnection, most: int | None = None) -> http.client.HTTPResponse:
    answer = line.getresponse()
    answer.read(most)
    return answer


@contextmanager
def computing() -> Iterator[None]:
    """Let each core compute something until the block ends."""
    command = [sys.executable, "-c", "while True: pass"]
    children = [
        subprocess.Popen(command, start_new_session=True, preexec_fn=die_with_parent())  # noqa: PLW1509 - one thread
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


@contextmanager
def exporting(place: Place) -> Iterator[None]:
    """Let a worker write the exports until the block ends."""
    with (place.backends.places.logs / "fairness-worker.log").open("wb") as output:
        child = subprocess.Popen(
            worker_command(queues="bulk", processes=1),
            cwd=ROOT,
            env=place.environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=die_with_parent(niceness=BACKGROUND),  # noqa: PLW1509 - this process has one thread
        )
    try:
        yield
    finally:
        child.terminate()
        child.wait(30)


@contextmanager
def attacked(port: int, spec: Path, answers: Counter[str]) -> Iterator[None]:
    """Let a process of its own attack until the block ends, and count what it was answered.

    In service it runs on machines of its own; here it gives the processors to the service and to who measures.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.fairness", "--attack", str(port), "--spec", str(spec)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Linux compares the priorities of sessions, not of their processes
        preexec_fn=die_with_parent(niceness=CLIENT_NICENESS),  # noqa: PLW1509 - this process has one thread
    )
    try:
        time.sleep(2)
        yield
    finally:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.close()
        answers.update(json.loads(child.stdout.readline()))
        child.kill()
        child.wait()
        time.sleep(3)


def _person(tenant: str) -> str:
    """Give the tenant's caller a password; return the e-mail address."""
    from organizations.models import Membership

    person = Membership.objects.using("platform").select_related("user").get(tenant_id=tenant, user__isnull=False).user
    person.set_password(PASSWORD)
    person.save(using="owner", update_fields=["password"])
    return str(person.email)


def world(place: Place, port: int, bundles: int) -> dict[str, Any]:
    """Make both tenants, and records enough for a search to be slow."""
    clinics = World(place, 2)
    attacker, clinic = clinics.fresh()
    whole = [body.replace(b'"batch"', b'"transaction"', 1) for body in fhir_bench.bundles("prerequisite_batches.json")]
    patients = fhir_bench.bundles("patient_transactions.ndjson.gz")
    counted = clinics.count().get("Patient", 0)
    if counted < bundles:
        for caller, number in ((attacker, bundles), (clinic, 1)):
            sent = [request("POST", BASE, caller, body=body) for body in whole]
            sent += [request("POST", BASE, caller, body=next(patients)) for _ in range(number)]
            load.run(port, sent, seconds=300, connections=1, once=True)
    clinics.look()
    shelf = place.python("-m", "bench.population", "--tenants", "2")[0]
    person = place.python("-m", "bench.fairness", "--person", clinic["tenant"])
    return {
        "attacker": attacker,
        "clinic": clinic,
        "shelf": shelf,
        "person": person["email"],
        "own_patient": clinics.samples[0]["Patient"][0],
        "patient": clinics.samples[1]["Patient"][0],
    }


def lines(rounds: list[Round], answers: Counter[str]) -> list[str]:
    """Write the table: the p99 of all rounds together, and how far the rounds are apart."""
    found = [
        "| request | quiet, p50 | p99 | floor, p99 | times | beside the load, p50 | p99 | times (by rounds) | statuses | mark | |",
        "|" + "---|" * 11,
    ]
    for name in rounds[0].quiet:
        quiet, floor, loaded = (Seen.of([getattr(one, phase)[name] for one in rounds]) for phase in Round._fields)
        ratio = loaded.p99 / quiet.p99
        each = [one.loaded[name].p99 / one.quiet[name].p99 for one in rounds]
        if name == "/health/live":
            mark, met = "p99 < 50 ms", loaded.p99 < 50
        else:
            mark, met = "p99 ≤ 3x and < 500 ms, no 503", ratio <= 3 and loaded.p99 < 500 and not loaded.statuses[503]
        found.append(
            f"| {name} | {median(quiet.ms):.1f} ms | {quiet.p99:.1f} ms | {floor.p99:.1f} ms | {floor.p99 / quiet.p99:.1f}x"
            f" | {median(loaded.ms):.1f} ms | {loaded.p99:.1f} ms | {ratio:.1f}x ({min(each):.1f}–{max(each):.1f})"
            f" | {dict(sorted(loaded.statuses.items()))} | {mark} | {'met' if met else '**missed**'} |"
        )
    told = ", ".join(f"{name} {count}" for name, count in sorted(answers.items()))
    return [*found, "", f"What the busy tenant was answered: {told}."]


def measure(wanted: argparse.Namespace) -> tuple[list[Round], Counter[str]]:
    """Serve, and observe the other tenant in each round while all is quiet, beside computing, then beside the load."""
    with backends_of(wanted.data) as backends:
        place = open_place(backends, rows=10_000, tenants=4)
        families = ("FHIR", "BULK", "ORGANIZATIONS", "SIGN_IN", "ADDRESS")
        high = {f"RATE_LIMIT_{name}_PER_MINUTE": HIGH for name in families}
        place = replace(place, environment=place.environment | high)
        path = backends.places.data / "fairness.json"
        path.touch(mode=0o600)
        with serving(place, "web", workers=2) as (port, _), exporting(place):
            spec = world(place, port, wanted.bundles)
            path.write_text(json.dumps(spec))
            kinds = victim(port, spec)
            observe(kinds, 3)
            rounds, answers = [], Counter[str]()
            for number in range(wanted.rounds):
                quiet = observe(kinds, wanted.seconds)
                with computing():
                    floor = observe(kinds, wanted.seconds / 2)
                with attacked(port, path, answers):
                    rounds.append(Round(quiet, floor, observe(kinds, wanted.seconds)))
                print(f"round {number + 1} of {wanted.rounds}", file=sys.stderr, flush=True)
        path.unlink()
    return rounds, answers


def main(arguments: list[str]) -> int:
    """Measure and print."""
    reader = argparse.ArgumentParser(prog="./dev bench fairness")
    reader.add_argument("--data", default=None)
    reader.add_argument("--rounds", type=int, default=4)
    reader.add_argument("--seconds", type=float, default=20.0, help="of quiet, and of load, in a round")
    reader.add_argument("--bundles", type=int, default=60, help="patients of Synthea in the busy tenant")
    reader.add_argument("--results", type=Path, default=RESULTS)
    reader.add_argument("--attack", type=int, help=argparse.SUPPRESS)
    reader.add_argument("--spec", type=Path, help=argparse.SUPPRESS)
    reader.add_argument("--person", help=argparse.SUPPRESS)
    wanted = reader.parse_args(arguments)
    if wanted.attack:
        Attack(json.loads(wanted.spec.read_text())).run(wanted.attack)
    elif wanted.person:
        setup_django()
        print(json.dumps({"email": _person(wanted.person)}))
    else:
        what = (__doc__ or "").split("\n\n", 1)[1].strip()
        found = ["# Fairness, `./dev bench fairness`", "", machine_line(), "", what, "", *lines(*measure(wanted)), ""]
        wanted.results.write_text("\n".join(found))
        print("\n".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
