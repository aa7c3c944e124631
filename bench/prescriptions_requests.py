"""The requests of `./dev bench prescriptions`, and the batches of prescriptions that its writes use up."""

import itertools
import json
import random
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from . import load, prescriptions_rows, prescriptions_world
from .load import request

V1 = "/v1/prescriptions"
Caller = dict[str, str]
# No table knows it, so that one patient may have many of it.
_PLAIN = {"system": prescriptions_world.RXNORM, "code": "308182", "display": "amoxicillin 250 MG Oral Tablet"}
_DOSAGE = {
    "text": "1 tablet a day",
    "dose": {"value": "1", "unit": "tablet"},
    "frequency": 1,
    "period": "1",
    "period_unit": "d",
}
_MINUTES = 5
_SLOTS_OF_A_DAY = 24 * 60 // _MINUTES
_numbers = itertools.count(random.randrange(1_000))


def item(code: dict[str, str] = _PLAIN, **more: Any) -> dict[str, Any]:
    """An item that passes the clinical checks of an adult without a record."""
    quantity = {"value": "21", "unit": "tablet"}
    return {"medication": code, "dosage": [_DOSAGE], "quantity": quantity, "days_supply": 21, **more}


def draft_body(items: int = 1, **more: Any) -> dict[str, Any]:
    """A draft for the next of the patients."""
    return {"patient_id": prescriptions_world.patient(next(_numbers)), "items": [item() for _ in range(items)], **more}


def read(caller: Caller, path: str) -> bytes:
    """A GET."""
    return request("GET", path, headers=_headers(caller))


def write(caller: Caller, path: str, body: Any, method: str = "POST") -> bytes:
    """A POST, or another write, with a key of its own."""
    headers = _headers(caller) | {"Idempotency-Key": secrets.token_hex(16)}
    return request(method, path, headers=headers, body=json.dumps(body).encode())


def _headers(caller: Caller) -> dict[str, str]:
    held = {"Authorization": f"Bearer {caller['token']}", "X-Tenant-Id": caller["tenant"]}
    return held | {"Accept": "application/json"}


def patient_of(count: int, number: int) -> str:
    """One of the patients of the copies."""
    return f"bench-patient-{number % prescriptions_rows.patients(count)}"


def times(days: int = 7) -> str:
    """The query of a span of free times."""
    start = (datetime.now(UTC) + timedelta(days=2)).replace(hour=0, minute=0, second=0, microsecond=0)
    return f"from={start:%Y-%m-%dT%H:%M:%SZ}&to={start + timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}&minutes=30"


def bookings(caller: Caller, first: int) -> Iterator[bytes]:
    """Appointments that never meet, of the practitioners in turn; `first` is the first slot that is free."""
    start = (datetime.now(UTC) + timedelta(days=30)).replace(hour=0, minute=0, second=0, microsecond=0)
    for number in itertools.count(first * prescriptions_world.PRACTITIONERS):
        slot, who = divmod(number, prescriptions_world.PRACTITIONERS)
        at = start + timedelta(minutes=_MINUTES * slot)
        body = {
            "patient_id": prescriptions_world.patient(number),
            "practitioner_id": prescriptions_world.practitioner(who),
            "starts_at": at.isoformat(),
            "duration_minutes": _MINUTES,
        }
        yield write(caller, "/v1/appointments", body)


@dataclass
class Maker:
    """Makes prescriptions through the service, for the measurements that use them up."""

    port: int
    connection: Any
    callers: dict[str, Caller]
    pharmacy: str

    def send(self, requests: Sequence[bytes], *statuses: int, connections: int = 4) -> load.Outcome:
        """Send each request once.

        :raises RuntimeError: an answer has another status.
        """
        outcome = load.run(self.port, requests, seconds=600, connections=connections, once=True)
        if not set(outcome.statuses) <= set(statuses):
            raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:800]!r}")
        return outcome

    def drafts(self, count: int, *items: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
        """New drafts: the id of each and of its first item."""
        mark, caller = secrets.token_hex(8), self.callers["prescriber"]
        bodies = [draft_body(notes_to_pharmacy=mark, **more) for _ in range(count)]
        bodies = [body | {"items": list(items) or body["items"]} for body in bodies]
        self.send([write(caller, V1, body) for body in bodies], 201)
        return self.found(mark, "draft")

    def found(self, mark: str, status: str) -> list[tuple[str, str]]:
        """The prescriptions of a batch."""
        return list(prescriptions_rows.marked(self.connection, self.callers["prescriber"]["tenant"], mark, status))

    def act(self, rows: Sequence[tuple[str, str]], action: str, body: dict[str, Any], who: str = "prescriber") -> None:
        """Carry out an action of each."""
        path = f"{V1}/{{}}/{action}"
        self.send([write(self.callers[who], path.format(key), body) for key, _ in rows], 200, 201)

    def signed(self, count: int, *items: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
        """New signed ones."""
        rows = self.drafts(count, *items, **more)
        self.act(rows, "sign", {})
        return rows

    def routed(self, count: int, *items: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
        """New ones that are at the pharmacy."""
        rows = self.signed(count, *items, **more)
        self.act(rows, "route", {"pharmacy_location_id": self.pharmacy})
        return rows

    def one_of_each(self) -> dict[str, str]:
        """One prescription of each status, by status: what the copies are made of."""
        found = {status: key for status in ("draft",) for key, _ in self.drafts(1)}
        for status, action in (("clinically_validated", "validate"), ("cancelled", "cancel")):
            rows = self.drafts(1)
            self.act(rows, action, {} if action == "validate" else {"reason_code": "patient_request"})
            found[status] = rows[0][0]
        found["signed"] = self.signed(1)[0][0]
        found["routed"] = self.routed(1)[0][0]
        rows = self.routed(1)
        self.act(rows, "dispense", {}, "pharmacist")
        found["dispensed"] = rows[0][0]
        return found

    def with_long_history(self, entries: int) -> str:
        """A signed prescription whose history has so many entries."""
        (row,) = self.drafts(1)
        for _ in range(entries - 3):
            body = draft_body(patient_instructions=secrets.token_hex(4))
            self.send([write(self.callers["prescriber"], f"{V1}/{row[0]}", body, "PUT")], 200)
        self.act([row], "sign", {})
        return row[0]

    def hard(self) -> str:
        """A draft of five items for the patient with the long record, who takes twenty other drugs."""
        drugs = [item(prescriptions_world.drug(number)) for number in range(prescriptions_world.DRUGS)]
        sql = "SELECT count(*) FROM prescriptions_prescription WHERE patient_id = %s AND status = 'signed'"
        held = self.connection.execute(sql, [prescriptions_world.HARD]).fetchone()[0]  # of a run before
        for first in range(5 + 5 * held, len(drugs), 5):
            self.signed(1, *drugs[first : first + 5], patient_id=prescriptions_world.HARD)
        return self.drafts(1, *drugs[:5], patient_id=prescriptions_world.HARD)[0][0]
