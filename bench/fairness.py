"""`./dev bench fairness`: what one tenant's costliest work does to another tenant, beside the same requests while it is quiet.

One tenant sends, from twenty connections, batches of 5,000 reads, searches with `:contains`, requests that it closes after
0.3 s and answers that it reads half. Another lists products, reads a patient and signs in, one request after another, and
somebody asks `/health/live`. Rounds of quiet and load take turns. The busy tenant's program runs at a low priority, since it
would run on machines of its own.
"""

import argparse
import http.client
import json
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
from typing import Any

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
ALTERNATIVES = 50
EARLY_SECONDS = 0.3
PAUSE_SECONDS = 0.02
CLIENT_NICENESS = 19
PASSWORD = "bench-fairness-password"

Ask = Callable[[http.client.HTTPConnection], int]


@dataclass
class Seen:
    """The milliseconds and statuses of one kind of request."""

    ms: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def p99(self) -> float:
        """The 99th of a hundred."""
        return quantiles(self.ms, n=100)[98] if len(self.ms) > 1 else 0.0


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


def observe(kinds: dict[str, Callable[[], int]], seconds: float) -> dict[str, Seen]:
    """Send each kind of request in turn, for some seconds."""
    found = {name: Seen() for name in kinds}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for name, send in kinds.items():
            started = time.perf_counter()
            status = send()
            found[name].ms.append((time.perf_counter() - started) * 1000)
            found[name].statuses[status] += 1
            time.sleep(PAUSE_SECONDS)
    return found


def attack(port: int, spec: dict[str, Any]) -> None:
    """Send the costliest allowed work from many connections until standard input ends."""
    over = threading.Event()
    headers = {"Authorization": f"Bearer {spec['attacker']['token']}", "Content-Type": "application/fhir+json"}
    reads = [{"request": {"method": "GET", "url": f"Patient/{spec['own_patient']}"}}] * ENTRIES
    batch = json.dumps({"resourceType": "Bundle", "type": "batch", "entry": reads}).encode()
    names = ",".join(f"{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(ALTERNATIVES))
    search = f"{BASE}/Patient?name:contains={names}&_count=1000"

    def work(number: int) -> None:
        while not over.is_set():
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            with suppress(OSError, http.client.HTTPException):
                kind = number % 4
                if kind == 0:
                    line.request("POST", BASE, batch, headers)
                else:
                    line.request("GET", search, headers=headers)
                if kind == 2:
                    time.sleep(EARLY_SECONDS)
                else:
                    answer = line.getresponse()
                    answer.read(1_000 if kind == 3 else None)
                    if kind == 3:
                        over.wait(1.0)
            line.close()
            number += 1

    for number in range(CONNECTIONS):
        threading.Thread(target=work, args=(number,), daemon=True).start()
    sys.stdin.read()
    over.set()


@contextmanager
def attacked(port: int, spec: Path) -> Iterator[None]:
    """Let a process of its own attack until the block ends.

    In service it runs on machines of its own; here it gives the processors to the service and to who measures.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.fairness", "--attack", str(port), "--spec", str(spec)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        start_new_session=True,  # Linux compares the priorities of sessions, not of their processes
        preexec_fn=die_with_parent(niceness=CLIENT_NICENESS),  # noqa: PLW1509 - this process has one thread
    )
    try:
        time.sleep(2)
        yield
    finally:
        assert child.stdin is not None
        child.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            child.wait(1)
        child.kill()
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


def lines(rounds: list[tuple[dict[str, Seen], dict[str, Seen]]]) -> list[str]:
    """Write the table: each round's p99, quiet and beside the load, and the ratios' median."""
    found = [
        "| request | quiet, p50 | p99 | beside the load, p50 | p99 | times | statuses beside the load | mark | |",
        "|" + "---|" * 9,
    ]
    for name in rounds[0][0]:
        quiet, loaded = ([one[which][name] for one in rounds] for which in (0, 1))
        ratio = median(beside.p99 / alone.p99 for alone, beside in zip(quiet, loaded, strict=True))
        worst = median(one.p99 for one in loaded)
        statuses: Counter[int] = sum((one.statuses for one in loaded), Counter())
        if name == "/health/live":
            mark, met = "p99 < 50 ms", worst < 50
        else:
            mark, met = "p99 ≤ 3x and < 500 ms, no 503", ratio <= 3 and worst < 500 and not statuses[503]
        middle = [median(median(one.ms) for one in side) for side in (quiet, loaded)]
        found.append(
            f"| {name} | {middle[0]:.1f} ms | {median(one.p99 for one in quiet):.1f} ms | {middle[1]:.1f} ms | {worst:.1f} ms"
            f" | {ratio:.1f}x | {dict(sorted(statuses.items()))} | {mark} | {'met' if met else '**missed**'} |"
        )
    return found


def measure(wanted: argparse.Namespace) -> list[tuple[dict[str, Seen], dict[str, Seen]]]:
    """Serve, and observe the other tenant in each round first while all is quiet, then beside the load."""
    with backends_of(wanted.data) as backends:
        place = open_place(backends, rows=10_000, tenants=4)
        high = {f"RATE_LIMIT_{name}_PER_MINUTE": HIGH for name in ("FHIR", "ORGANIZATIONS", "SIGN_IN", "ADDRESS")}
        place = replace(place, environment=place.environment | high)
        path = backends.places.data / "fairness.json"
        path.touch(mode=0o600)
        with serving(place, "web", workers=2) as (port, _):
            spec = world(place, port, wanted.bundles)
            path.write_text(json.dumps(spec))
            kinds = victim(port, spec)
            observe(kinds, 3)
            rounds = []
            for number in range(wanted.rounds):
                quiet = observe(kinds, wanted.seconds)
                with attacked(port, path):
                    rounds.append((quiet, observe(kinds, wanted.seconds)))
                print(f"round {number + 1} of {wanted.rounds}", file=sys.stderr, flush=True)
        path.unlink()
    return rounds


def main(arguments: list[str]) -> int:
    """Measure and print."""
    reader = argparse.ArgumentParser(prog="./dev bench fairness")
    reader.add_argument("--data", default=None)
    reader.add_argument("--rounds", type=int, default=5)
    reader.add_argument("--seconds", type=float, default=20.0, help="of each half of a round")
    reader.add_argument("--bundles", type=int, default=60, help="patients of Synthea in the busy tenant")
    reader.add_argument("--results", type=Path, default=RESULTS)
    reader.add_argument("--attack", type=int, help=argparse.SUPPRESS)
    reader.add_argument("--spec", type=Path, help=argparse.SUPPRESS)
    reader.add_argument("--person", help=argparse.SUPPRESS)
    wanted = reader.parse_args(arguments)
    if wanted.attack:
        attack(wanted.attack, json.loads(wanted.spec.read_text()))
    elif wanted.person:
        setup_django()
        print(json.dumps({"email": _person(wanted.person)}))
    else:
        what = (__doc__ or "").split("\n\n", 1)[1].strip()
        found = ["# Fairness, `./dev bench fairness`", "", machine_line(), "", what, "", *lines(measure(wanted)), ""]
        wanted.results.write_text("\n".join(found))
        print("\n".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
