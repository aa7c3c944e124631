"""What `./dev bench prescriptions` measures once: trips, the rules' CPU, the sweep, checkpoints, histories, deliveries."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from devtools.parts import BACKGROUND
from devtools.places import ROOT

from . import load, prescriptions_rows
from .prescriptions_child import Child
from .prescriptions_report import Held
from .prescriptions_requests import V1, draft_body, patient_of, read, times, write

if TYPE_CHECKING:
    from .prescriptions import Bench

_CHANGED, _DUE, _SIGNED = 50_000, 100_000, 60  # histories, of the mark, signatures
_QUICK = 2_000  # where there are fewer prescriptions than that takes
_RULES_TIMES = 30
_GETS_PER_SECOND = 100  # a fifth of what two cores can do
_WORKERS = 2  # processes of a worker, as `devtools.parts.worker_command` starts them


def trips(bench: "Bench") -> dict[str, int]:
    """The round trips of one request of each work."""
    one, first = bench.sample[0], patient_of(bench.count, 0)
    paths = {
        "list": f"{V1}?limit=20",
        "list by status": f"{V1}?limit=20&status=signed",
        "list by patient": f"{V1}?limit=20&patient_id={first}",
        "list by prescriber": f"{V1}?limit=20&prescriber_id=bench-doctor-1",
        "list by place": f"{V1}?limit=20&pharmacy_location_id={bench.places['pharmacy']}",
        "get": f"{V1}/{one}",
        "verification": f"{V1}/{bench.long}/verification",
    }
    orders = {name: bench.order("prescriber", "GET", path) for name, path in paths.items()}
    orders["list received"] = bench.order("pharmacist", "GET", f"{V1}?limit=20")
    orders["audit of one"] = bench.order("auditor", "GET", f"{V1}/{one}/audit")
    orders["audit by patient"] = bench.order("auditor", "GET", f"{V1}/audit?patient_id={first}")
    free = f"/v1/appointments/availability?location_id={bench.places['clinic']}&{times()}"
    orders["availability"] = bench.order("nurse", "GET", free)
    orders |= _writes(bench)
    return {name: bench.child.do("trips", **order)["trips"] for name, order in orders.items()}


def _writes(bench: "Bench") -> dict[str, dict[str, Any]]:
    (drafted,), (routed,) = bench.maker.drafts(1), bench.maker.routed(1)
    slot = {
        "patient_id": draft_body()["patient_id"],
        "practitioner_id": "bench-practitioner-0",
        "starts_at": "2199-01-01T00:00:00Z",
        "duration_minutes": 5,
    }
    return {
        "draft of 1": bench.order("prescriber", "POST", V1, 201, draft_body(1)),
        "draft of 3": bench.order("prescriber", "POST", V1, 201, draft_body(3)),
        "validate": bench.order("prescriber", "POST", f"{V1}/{bench.hard}/validate"),
        "sign": bench.order("prescriber", "POST", f"{V1}/{drafted[0]}/sign"),
        "dispense": bench.order("pharmacist", "POST", f"{V1}/{routed[0]}/dispense", 201),
        "booking": bench.order("nurse", "POST", "/v1/appointments", 201, slot),
    }


def rules(bench: "Bench") -> Any:
    """The CPU of the rules in validations of the long record."""
    order = bench.order("prescriber", "POST", f"{V1}/{bench.hard}/validate")
    return bench.child.do("rules", **order, times=_RULES_TIMES)


def told_of_rules(found: Any) -> str:
    """What the rules had before them."""
    return (
        f"The validation is of {found['items']} items, {found['others']} other prescriptions of the patient and"
        f" {found['observations']:,} observations; it finds {found['issues']} issues and is {found['outcome']}."
    )


def once(bench: "Bench") -> list[Held]:
    """The works that change many rows or take long."""
    is_large = bench.count >= _DUE * 5
    return [
        *_delivered(bench),
        _histories(bench),
        _checkpoint(bench, _CHANGED if is_large else _QUICK),
        *_sweep(bench, bench.wanted.due if is_large else _QUICK),
    ]


def _histories(bench: "Bench") -> Held:
    sql = "SELECT id::text FROM organizations_tenant WHERE slug = 'demo-other-hospital'"
    tenant = bench.connection.execute(sql).fetchone()[0]
    found = max((bench.child.do("verify", tenant=tenant) for _ in range(3)), key=_speed)
    return Held("verify_audit_chain", _speed(found), 20_000, " entries/s", at_least=True, told=f"{found['entries']:,}")


def _speed(found: Any) -> float:
    return float(found["entries"] / found["seconds"])


def _checkpoint(bench: "Bench", count: int) -> Held:
    bench.child.do("checkpoint", tenant=bench.clinic)  # what the measurements before have changed
    changed = prescriptions_rows.grow_chains(bench.connection, bench.clinic, count)
    found = bench.child.do("checkpoint", tenant=bench.clinic)
    if found["number"] is None:
        raise RuntimeError("there was nothing to seal")
    return Held("checkpoint", found["seconds"], 30, " s", told=f"{changed:,} changed histories")


def _sweep(bench: "Bench", count: int) -> list[Held]:
    """Sweep as the service's workers do, with their number and priority: once with nobody else, once beside requests.

    The requests come at a steady pace that leaves the machine time: what takes all of it slows every job, whatever that does.
    """
    requests = [read(bench.callers["prescriber"], f"{V1}/{key}") for key in bench.sample]

    def ask(seconds: float = 2) -> load.Outcome:
        return load.run(bench.ports["web"], requests, seconds=seconds, connections=2, per_second=_GETS_PER_SECOND)

    ask()
    alone, beside = ask(5), load.Outcome()
    with _busy():
        taken = ask(5)
    undisturbed = _swept(bench, count, lambda: time.sleep(0.1))
    disturbed = _swept(bench, count, lambda: beside.latencies.extend(ask(1).latencies))
    rates = f"{undisturbed.per_second:,.0f}/s by {_WORKERS} workers, {disturbed.per_second:,.0f}/s beside the gets"
    p95 = beside.percentile(0.95)
    others = f"{_GETS_PER_SECOND} gets a second; alone {alone.percentile(0.95):.1f} ms, beside the sweep {p95:.1f} ms"
    busy = f"beside a process that only computes {taken.percentile(0.95):.1f} ms"
    told = f"{undisturbed.count:,} due, {rates}"
    longest = f"longest {undisturbed.share(1):.0f} ms, beside the gets p95 {disturbed.share(0.95):.0f} ms"
    return [
        Held("sweep of the due, at the rate of 100,000", _DUE / undisturbed.per_second, 120, " s", told=told),
        Held("a share of the sweep, p95", undisturbed.share(0.95), 100, " ms", told=longest),
        Held("p95 of gets beside the sweep", p95 / alone.percentile(0.95), 1.5, "x", told=f"{others}, {busy}"),
    ]


class _Sweep(NamedTuple):
    """What a sweep of all workers did."""

    count: int
    seconds: float
    shares: list[float]

    @property
    def per_second(self) -> float:
        return self.count / self.seconds

    def share(self, part: float) -> float:
        """A percentile of the milliseconds for which rows were locked."""
        return load.Outcome(latencies=self.shares).percentile(part)


def _swept(bench: "Bench", count: int, meanwhile: Callable[[], object]) -> _Sweep:
    """Let prescriptions be due and sweep them.

    :raises RuntimeError: some were not stamped.
    """
    due, answers = prescriptions_rows.make_due(bench.connection, bench.clinic, count), list[Any]()
    with ExitStack() as stack:
        workers = [stack.enter_context(Child.running(bench.place, niceness=BACKGROUND)) for _ in range(_WORKERS)]
        sweeps = [Thread(target=lambda worker=worker: answers.append(worker.do("sweep"))) for worker in workers]
        for sweep in sweeps:
            sweep.start()
        while any(sweep.is_alive() for sweep in sweeps):
            meanwhile()
    stamped = sum(found["count"] for found in answers)
    if stamped < due:
        raise RuntimeError(f"{stamped} of {due} were stamped")
    shares = [seconds for found in answers for seconds in found["shares"]]
    return _Sweep(stamped, max(found["seconds"] for found in answers), shares)


@contextmanager
def _busy() -> Iterator[None]:
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        child.terminate()
        child.wait()


def _delivered(bench: "Bench") -> list[Held]:
    """Signatures at a quiet pace, their events delivered by the dispatcher to a receiver that answers at once."""
    with _process(bench, ["-m", "bench.hooks_receiver"], piped=True) as receiver:
        body = {"url": f"http://127.0.0.1:{receiver}/", "events": ["prescription.signed"], "description": "bench"}
        since = bench.connection.execute("SELECT clock_timestamp()").fetchone()[0]
        bench.maker.send([write(bench.callers["tenant-admin"], "/v1/webhooks", body)], 201)
        rows = bench.maker.drafts(1 + _SIGNED)
        with _process(bench, ["manage.py", "webhooks_dispatch", "--forever"]):
            bench.maker.act(rows[:1], "sign", {})  # the dispatcher needs a while to start
            _wait(bench, since, 1)
            since = bench.connection.execute("SELECT clock_timestamp()").fetchone()[0]
            for key, _ in rows[1:]:
                bench.maker.act([(key, "")], "sign", {})
                time.sleep(0.05)
            found = _wait(bench, since, _SIGNED)
        bench.connection.execute("UPDATE webhooks_endpoint SET active = false WHERE active")
    p50, p95 = (float(value or 0) for value in found)
    return [Held("sign → delivered, median", p50, 50, " ms", told=f"{_SIGNED} signatures, p95 {p95:.1f} ms")]


def _wait(bench: "Bench", since: Any, wanted: int) -> Any:
    sql = (
        "SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY took), percentile_cont(0.95) WITHIN GROUP (ORDER BY"
        " took) FROM (SELECT 1000 * extract(epoch FROM d.done_at - p.signed_at) took FROM webhooks_delivery d"
        " JOIN webhooks_event e ON e.id = d.event_id JOIN prescriptions_prescription p ON p.id = e.resource_id"
        " WHERE d.created_at >= %s AND d.state = 'delivered') found"
    )
    for _ in range(60):
        count, *found = bench.connection.execute(sql, [since]).fetchone()
        if count >= wanted:
            return found
        time.sleep(0.5)
    raise RuntimeError(f"{count} of {wanted} events were delivered")


@contextmanager
def _process(bench: "Bench", arguments: list[str], *, piped: bool = False) -> Iterator[str]:
    """Run a process of the service; yields the first line that it prints, if that is asked for."""
    child = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=bench.place.environment | {"LOG_LEVEL": "ERROR"},
        stdout=subprocess.PIPE if piped else subprocess.DEVNULL,
        text=True,
    )
    try:
        yield child.stdout.readline().strip() if child.stdout else ""
    finally:
        child.terminate()
        child.wait(20)
