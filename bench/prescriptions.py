"""`./dev bench prescriptions`: lists, drafts, signatures, dispensing, histories and appointments on 10,000 and on 1,000,000
prescriptions, beside bare views of the same rows and the statements alone; trips counted; marks and growth.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from devtools.environment import Backends
from devtools.places import ROOT

from . import load, prescriptions_once, prescriptions_report, prescriptions_rows, prescriptions_world, workload
from .accounting import Meters
from .place import Place, backends_of, open_database, serving
from .prescriptions_child import Child
from .prescriptions_report import BARE, FLOOR, NOTED, Found, Held, Taken
from .prescriptions_requests import V1, Maker, bookings, draft_body, item, patient_of, read, times, write
from .report import machine_line

RESULTS = ROOT / "bench" / "results" / "prescriptions.md"
SIZES = (10_000, 1_000_000)
_FAMILIES = ("PRESCRIPTIONS", "APPOINTMENTS", "SUPPLIER", "FHIR", "PLATFORM", "ORGANIZATIONS")
_ENTRIES = 20
_SAMPLE = 100  # of the copies, for reads of one
Work = Callable[[], Taken]


class Bench:
    """One database with so many prescriptions, its servers, and how each work is measured."""

    def __init__(self, place: Place, count: int, wanted: argparse.Namespace, stack: ExitStack) -> None:
        self.place, self.count, self.wanted = place, count, wanted
        port, web = stack.enter_context(serving(place, f"web-rx-{count}", workers=2))
        bare, stock = stack.enter_context(
            serving(place, f"bare-rx-{count}", workers=2, settings="bench.stock_settings")
        )
        self.ports = {"web": port, "bare": bare}
        self.meters = Meters.of(place.backends.places, web=web, bare=stock)
        self.database = place.environment["DATABASE_OWNER_URL"].rpartition("?")[0].rpartition("/")[2]
        self.connection: Any = stack.enter_context(place.backends.administration().connect(self.database))
        self.places = self.world("places")
        self.callers: dict[str, dict[str, str]] = {}
        self.maker = Maker(port, self.connection, self.callers, self.places["pharmacy"])
        self.refresh()
        self.clinic = self.callers["prescriber"]["tenant"]
        self.child = stack.enter_context(Child.running(place))
        taken = "SELECT coalesce(extract(day FROM max(starts_at) - now()), 0)::int FROM appointments_appointment"
        self.slot = itertools.count(1 + prescriptions_rows.waiting(self.connection, taken) // 3)

    def world(self, verb: str) -> Any:
        """Carry out a verb of `prescriptions_world`."""
        return self.place.python("-m", "bench.prescriptions_world", verb)

    def refresh(self) -> None:
        """Fetch fresh tokens."""
        self.callers.update(self.world("callers"))

    def prepare(self) -> None:
        """Fill the database where that is to do, and make what single reads and the validation need."""
        held = prescriptions_rows.waiting(
            self.connection, "SELECT count(*) FROM prescriptions_prescription WHERE number LIKE 'B%'"
        )
        if held < self.count // 2:
            self.world("record")
            self.world("knowledge")
            templates = self.maker.one_of_each()
            self.world("chains")
            self.child.do("checkpoint", tenant=self.clinic)
            seconds = prescriptions_rows.fill(self.connection, self.clinic, templates, self.count)
            print(f"{self.count:,} prescriptions copied in {seconds:.0f} s", flush=True)
            self._schedules()
        sql = (
            "SELECT id::text FROM prescriptions_prescription WHERE tenant_id = %s AND number LIKE 'B%%'"
            " AND status = 'dispensed' ORDER BY md5(id::text) LIMIT %s"
        )
        self.sample = [row[0] for row in self.connection.execute(sql, [self.clinic, _SAMPLE]).fetchall()]
        self.long = self.maker.with_long_history(_ENTRIES)
        self.hard = self.maker.hard()

    def _schedules(self) -> None:
        hours = [{"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "opens": "00:00", "closes": "24:00"}]
        hours = [{**one, "location_id": self.places["clinic"]} for one in hours]
        paths = map(prescriptions_world.practitioner, range(prescriptions_world.PRACTITIONERS))
        sent = [
            write(self.callers["nurse"], f"/v1/appointments/schedules/{path}", {"hours": hours}, "PUT")
            for path in paths
        ]
        self.maker.send(sent, 200, 201)

    # -- measurements --------------------------------------------------------------------------------------------------

    def http(
        self, requests: list[bytes], *statuses: int, server: str = "web", connections: int = 0, once: bool = False
    ) -> Taken:
        """Measure requests.

        :raises RuntimeError: an answer has another status.
        """
        before = self.meters.read()
        seconds, connections = self.wanted.seconds, connections or self.wanted.connections
        outcome = load.run(self.ports[server], requests, seconds=seconds, connections=connections, once=once)
        if not set(outcome.statuses) <= set(statuses or (200,)):
            raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:800]!r}")
        return Taken.of(outcome, self.meters.since(before), server)

    def reads(self) -> dict[str, Work]:
        """The reads; bare views stand beside their own."""
        doctor, auditor, nurse = (self.callers[name] for name in ("prescriber", "auditor", "nurse"))
        patients = [patient_of(self.count, number * 7) for number in range(50)]
        gets = [f"/prescriptions/{key}" for key in self.sample]
        histories = [f"{path}/audit" for path in gets]
        by_patient = [f"audit?patient_id={one}&limit=20" for one in patients]
        free = f"/v1/appointments/availability?location_id={self.places['clinic']}&{times()}"
        found = self.lists(patients)
        found |= {
            "get": partial(self.http, [read(doctor, f"/v1{path}") for path in gets]),
            f"get{NOTED}": self.bare([f"{path}?record=1" for path in gets]),
            "audit of one": partial(self.http, [read(auditor, f"/v1{path}") for path in histories]),
            f"audit of one{BARE}": self.bare(histories),
            "audit by patient": partial(self.http, [read(auditor, f"{V1}/{path}") for path in by_patient]),
            f"audit by patient{BARE}": self.bare([f"/{path}" for path in by_patient]),
            "verification": partial(self.http, [read(doctor, f"{V1}/{self.long}/verification")], connections=1),
            "availability": partial(self.http, [read(nurse, free)], connections=1),
        }
        return found

    def lists(self, patients: list[str]) -> dict[str, Work]:
        """The lists of 20."""
        doctor, pharmacist = self.callers["prescriber"], self.callers["pharmacist"]
        page = "limit=20&box"
        shops = self.connection.execute(
            "SELECT DISTINCT pharmacy_location_id::text FROM prescriptions_prescription WHERE pharmacy_location_id IS NOT NULL"
            " AND number LIKE 'B%'"
        ).fetchall()
        filters = {
            "status": ["status=draft", "status=signed", "status=routed"],
            "patient": [f"patient_id={one}" for one in patients],
            "prescriber": [f"prescriber_id=bench-doctor-{number}" for number in range(prescriptions_rows.DOCTORS)],
            "place": [f"pharmacy_location_id={row[0]}" for row in shops],
        }
        plain = f"/prescriptions?{page}=issued"
        found = {
            "list": partial(self.http, [read(doctor, f"/v1{plain}")]),
            f"list{BARE}": self.bare([plain]),
            f"list{NOTED}": self.bare([f"{plain}&record=1"]),
        }
        for name, texts in filters.items():
            found[f"list by {name}"] = partial(self.http, [read(doctor, f"/v1{plain}&{text}") for text in texts])
        found["list received"] = partial(self.http, [read(pharmacist, f"{V1}?{page}=received")])
        return found

    def bare(self, paths: list[str]) -> Work:
        """Measure the bare views of the same rows."""
        sent = [load.request("GET", f"/bare/{self.clinic}{path}", headers={}) for path in paths]
        return partial(self.http, sent, server="bare")

    def writes(self) -> dict[str, Work]:
        """The writes; what they use up is made before each is measured."""
        doctor, supplier = self.callers["prescriber"], self.callers["supplier-admin"]
        many = int(self.wanted.seconds * 400)

        def create() -> Taken:
            return self.http(workload.creates([supplier], many), 201, once=True)

        def drafts(items: int) -> Taken:
            return self.http([write(doctor, V1, draft_body(items)) for _ in range(many)], 201, once=True)

        def validate() -> Taken:
            path = f"{V1}/{self.hard}/validate"
            return self.http([write(doctor, path, {}) for _ in range(many)], connections=1, once=True)

        return {
            "create product": create,
            "draft of 1": partial(drafts, 1),
            "draft of 3": partial(drafts, 3),
            "validate": validate,
            "sign": self.sign,
            f"sign{FLOOR}": lambda: self.floor("sign", self.maker.drafts(1)[0][0]),
            "dispense": partial(self.dispense, 1),
            f"dispense{FLOOR}": lambda: self.floor("dispense", self.maker.routed(1)[0][0]),
            "dispense, 4 connections": partial(self.dispense, 4),
            "dispense of one hot": self.hot,
            "booking": partial(self.book, self.wanted.connections),
            "booking, won": partial(self.book, 1),
            "booking, lost": self.lose,
        }

    def sign(self) -> Taken:
        """Sign drafts on one connection."""
        rows = self.maker.drafts(int(self.wanted.seconds * 80))
        sent = [write(self.callers["prescriber"], f"{V1}/{key}/sign", {}) for key, _ in rows]
        return self.http(sent, connections=1, once=True)

    def dispense(self, connections: int) -> Taken:
        """Dispense prescriptions, each once."""
        rows = self.maker.routed(int(self.wanted.seconds * 40 * connections**0.7))
        sent = [write(self.callers["pharmacist"], f"{V1}/{key}/dispense", {}) for key, _ in rows]
        return self.http(sent, 201, connections=connections, once=True)

    def hot(self) -> Taken:
        """Dispense small parts of one prescription at once."""
        ((key, line),) = self.maker.routed(1, item(fills_allowed=1))
        body = {"lines": [{"item_id": line, "quantity": "0.1"}]}
        sent = [write(self.callers["pharmacist"], f"{V1}/{key}/dispense", body) for _ in range(2_000)]
        return self.http(sent, 201, 409, once=True)

    def floor(self, action: str, key: str) -> Taken:
        """The statements of a write alone, in one pipeline that is rolled back."""
        who = "pharmacist" if action == "dispense" else "prescriber"
        order = self.order(who, "POST", f"{V1}/{key}/{action}", 201 if action == "dispense" else 200)
        seconds = self.child.do("floor", **order, seconds=self.wanted.seconds)["seconds"]
        outcome = load.Outcome(seconds=sum(seconds), latencies=seconds)
        return Taken(outcome.per_second, outcome.percentile(0.5), outcome.percentile(0.95))

    def order(self, who: str, method: str, path: str, status: int = 200, body: Any = None) -> dict[str, Any]:
        """A request for the process without HTTP."""
        return {**self.callers[who], "method": method, "path": path, "status": status, "body": body or {}}

    def book(self, connections: int) -> Taken:
        """Book times that are free."""
        days = next(self.slot) * 3
        many = itertools.islice(bookings(self.callers["nurse"], days * 288), int(self.wanted.seconds * 500))
        return self.http(list(many), 201, connections=connections, once=True)

    def lose(self) -> Taken:
        """Book times that are taken."""
        days = next(self.slot) * 3
        first = list(itertools.islice(bookings(self.callers["nurse"], days * 288), 100))
        self.maker.send(first, 201)
        again = itertools.islice(bookings(self.callers["nurse"], days * 288), 100)
        return self.http(list(again), 409, connections=1, once=True)


@contextmanager
def opened(backends: Backends, wanted: argparse.Namespace) -> Iterator[dict[int, Bench]]:
    """Make, fill and serve the database of each size."""
    with ExitStack() as stack:
        found = {}
        for number, count in enumerate(wanted.sizes):
            place = open_database(backends, f"bench_rx_{count}", families=_FAMILIES, number=number + 1)
            demo = {"DEMO_DATA": "true", "DEMO_FILE": str(backends.places.data / f"demo-rx-{count}.json")}
            place = replace(place, environment=place.environment | demo)
            place.python("manage.py", "prepare")
            found[count] = Bench(place, count, wanted, stack)
            found[count].prepare()
        yield found


def measure(benches: dict[int, Bench], rounds: int) -> dict[int, Found]:
    """All works in turn on each size, round after round; the first round warms and is not counted."""
    found: dict[int, Found] = {count: {} for count in benches}
    for number in range(rounds + 1):
        for bench in benches.values():
            bench.refresh()
        for kind in ("reads", "writes"):
            for name in getattr(next(iter(benches.values())), kind)():
                for count, bench in benches.items():
                    taken = getattr(bench, kind)()[name]()
                    if number:
                        found[count].setdefault(name, []).append(taken)
            for bench in benches.values():
                bench.refresh()
        print(f"round {number} of {rounds}", flush=True)
    return found


def _text(wanted: argparse.Namespace, benches: dict[int, Bench]) -> str:
    found = measure(benches, wanted.rounds)
    lines = ["# Prescriptions, `./dev bench prescriptions`", "", machine_line(), "", _how(wanted)]
    if len(benches) > 1:
        lines += ["", "## Growth", "", *prescriptions_report.growth(found)]
        print("\n".join(lines), flush=True)
    for count, bench in benches.items():
        bench.refresh()
        trips = prescriptions_once.trips(bench)
        rules = prescriptions_once.rules(bench)
        print("\n".join(prescriptions_report.works(found[count], trips)), flush=True)
        once: list[Held] = prescriptions_once.once(bench)
        lines += ["", f"## {count:,} prescriptions", "", prescriptions_once.told_of_rules(rules), ""]
        lines += prescriptions_report.works(found[count], trips)
        lines += ["", *prescriptions_report.marks(found[count], rules["seconds"], once)]
    return "\n".join([*lines, ""])


def _how(wanted: argparse.Namespace) -> str:
    return (
        f"One clinic with all prescriptions, one pharmacy with what was routed; {wanted.rounds} rounds of {wanted.seconds:g} s"
        f" each, interleaved, {wanted.connections} connections and 2 workers where nothing else is said; median"
        " (lowest–highest). `cost` is the CPU of web and PostgreSQL together by process accounting; ratios are medians of the"
        " rounds' ratios. A bare view sends the same statement without credential, limit or record. A SQL floor is every"
        " statement of one such request in one pipeline, rolled back. Trips include the record of access."
    )


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    reader = argparse.ArgumentParser(prog="./dev bench prescriptions")
    reader.add_argument("--data", help="the data folder; filled once and kept (default: .local/bench)")
    reader.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="prescriptions")
    reader.add_argument("--quick", action="store_true", help="the smaller size and smaller sweeps only")
    reader.add_argument("--due", type=int, default=100_000, help="that the sweep stamps in the larger size")
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    reader.add_argument("--connections", type=int, default=4)
    reader.add_argument("--results", type=Path, default=RESULTS)
    wanted = reader.parse_args(arguments)
    if wanted.quick:
        wanted.sizes = [min(SIZES)]
    wanted.sizes.sort()
    with backends_of(wanted.data) as backends, opened(backends, wanted) as benches:
        text = _text(wanted, benches)
    print(text)
    wanted.results.parent.mkdir(exist_ok=True)
    wanted.results.write_text(text)
    return 0
