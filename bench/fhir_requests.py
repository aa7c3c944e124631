"""What `./dev bench fhir` asks: the interactions and the searches of the contract's table, of four tenants in turn."""

import itertools
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from . import load
from .place import Place

BASE: Final = "/fhir/R4"
READ: Final = "read"
READ_NO_PATIENT: Final = "read, no patient"  # leaves no record of access
TOKENS_LIVE_SECONDS: Final = 400
_LOINC, _CATEGORY = "http://loinc.org", "http://terminology.hl7.org/CodeSystem/observation-category"
_DIFFERENT: Final = 40  # paths of one kind, each asked again and again

Make = Callable[[dict[str, Any]], str]


class World:
    """The tenants, their callers with fresh tokens, and what to ask them for."""

    def __init__(self, place: Place, tenants: int) -> None:
        self.place, self.tenants = place, tenants
        self.callers: list[dict[str, str]] = []
        self.samples: list[dict[str, Any]] = []
        self._fetched_at = 0.0

    def fresh(self) -> list[dict[str, str]]:
        """The callers, with new tokens when those at hand grow old."""
        if not self.callers or time.monotonic() - self._fetched_at > TOKENS_LIVE_SECONDS:
            self._fetched_at = time.monotonic()
            self.callers = self.place.python("-m", "bench.fhir_world", "tenants", "--count", str(self.tenants))
        return self.callers

    def look(self) -> None:
        """Choose ids and values of each tenant."""
        self.samples = [
            self.place.python("-m", "bench.fhir_world", "sample", "--tenant", caller["tenant"])
            for caller in self.fresh()
        ]

    def count(self) -> dict[str, int]:
        """How many resources there are of each type."""
        found: dict[str, int] = self.place.python("-m", "bench.fhir_world", "counts")
        return found

    def pairs(self, make: Make) -> list[tuple[dict[str, str], str]]:
        """Callers in turn, each with a path that `make` chooses from the tenant's sample."""
        turns = itertools.cycle(zip(self.fresh(), self.samples, strict=True))
        return [(caller, make(sample)) for caller, sample in itertools.islice(turns, _DIFFERENT)]


@dataclass(frozen=True)
class Asked:
    """One kind of request. `make` is empty for those that write.

    `sketch` is the prototype's median in ms on the machine it was tried out on; without it the SQL alone is left out.
    """

    name: str
    status: int = 200
    make: Make | None = None
    sketch: float = 0.0

    def requests(self, world: World, seconds: float) -> list[bytes]:
        """The requests of a round; those that write are made anew, more than can be sent."""
        if self.make is None:
            return _writes("POST" if self.status == 201 else "PUT", world, int(seconds * 2_000))
        return [request("GET", BASE + path, caller) for caller, path in world.pairs(self.make)]


def request(method: str, path: str, caller: dict[str, str], *, body: bytes = b"") -> bytes:
    """One request of a caller."""
    headers = {"Authorization": f"Bearer {caller['token']}", "Accept": "application/fhir+json"}
    return load.request(method, path, headers=headers, body=body)


def _writes(method: str, world: World, count: int) -> list[bytes]:
    found = []
    for caller, sample in itertools.islice(itertools.cycle(zip(world.fresh(), world.samples, strict=True)), count):
        body = dict(random.choice(sample["observations"]))
        if method == "PUT":
            body["note"] = [{"text": f"looked at again {random.random()}"}]
        path = f"{BASE}/Observation" + (f"/{body['id']}" if method == "PUT" else "")
        found.append(request(method, path, caller, body=json.dumps(body).encode()))
    return found


def asked() -> list[Asked]:
    """All kinds, those that write last; the prototype's medians are those of the contract's table (`fhir.md`)."""
    weight = quote(f"{_LOINC}|29463-7")
    codes = quote(",".join(f"{_LOINC}|{code}" for code in ("8302-2", "29463-7", "39156-5", "72514-3", "55284-4")))
    laboratory = quote(f"{_CATEGORY}|laboratory")
    return [
        Asked(READ, make=lambda s: f"/Observation/{random.choice(s['Observation'])}", sketch=0.05),
        Asked(READ_NO_PATIENT, make=lambda s: f"/Organization/{random.choice(s['Organization'])}"),
        Asked(
            "Patient?identifier=s|v",
            make=lambda s: f"/Patient?identifier={quote(random.choice(s['identifiers']), safe='')}",
            sketch=0.34,
        ),
        Asked("Observation?code=s|c", make=lambda _: f"/Observation?code={weight}&_count=20", sketch=0.43),
        Asked("Observation?status=final", make=lambda _: "/Observation?status=final&_count=20", sketch=0.07),
        Asked(
            "Observation?patient=P&_sort=-date",
            make=lambda s: f"/Observation?patient={_patient(s)}&_sort=-date&_count=20",
            sketch=0.17,
        ),
        Asked(
            "Observation?patient=P&code=s|c&_sort=-date",
            make=lambda s: f"/Observation?patient={_patient(s)}&code={weight}&_sort=-date&_count=20",
            sketch=0.48,
        ),
        Asked(
            "Observation?patient&category&date=ge",
            make=lambda s: f"/Observation?patient={_patient(s)}&category={laboratory}&date=ge2015&_count=20",
            sketch=1.52,
        ),
        Asked("Observation?code= 5 codes", make=lambda _: f"/Observation?code={codes}&_count=20", sketch=0.32),
        Asked(
            "Observation?code&value-quantity=gt",
            make=lambda _: f"/Observation?code={quote(f'{_LOINC}|8302-2')}&value-quantity=gt180&_count=20",
            sketch=1.25,
        ),
        Asked(
            "Patient?family=abc&gender",
            make=lambda s: f"/Patient?family={_family(s)}&gender=male&_count=20",
            sketch=0.10,
        ),
        Asked(
            "Observation?code&patient.family",
            make=lambda s: f"/Observation?code={weight}&patient.family={_family(s)}&_count=20",
            sketch=1.7,
        ),
        Asked(
            "Patient?_has:Observation:patient:code",
            make=lambda _: f"/Patient?_has:Observation:patient:code={weight}&_count=20",
            sketch=14.5,
        ),
        Asked("total of code=s|c", make=lambda _: f"/Observation?code={weight}&_summary=count", sketch=0.35),
        Asked(
            "Patient?_revinclude=Observation:patient",
            make=lambda _: "/Patient?_revinclude=Observation:patient&_count=20",
            sketch=6.2,
        ),
        Asked("create", status=201),
        Asked("update"),
    ]


def _patient(sample: dict[str, Any]) -> str:
    return str(random.choice(sample["Patient"]))


def _family(sample: dict[str, Any]) -> str:
    return quote(random.choice(sample["families"])[:3])
