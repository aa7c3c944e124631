"""How often a prescription request goes to PostgreSQL: more trips are a decision, not an accident."""

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from bench.statements import recording
from tests import factories
from tests.factories import Api
from tests.prescriptions.dispensing.counter import BASE, dispense, refills
from tests.prescriptions.ward import Ward, done


class World(NamedTuple):
    """A ward, its auditor, and items that may be dispensed again."""

    ward: Ward
    auditor: Api

    @property
    def prescriber(self) -> Api:
        """The client of the prescriber."""
        return self.ward.prescriber

    @property
    def pharmacist(self) -> Api:
        """The client of the pharmacist."""
        return self.ward.pharmacist


Ask = Callable[[], Any]
Made = Callable[[World, int], Ask]


@pytest.fixture(scope="module")
def world(ward):
    return World(ward, factories.as_member(ward.clinic.tenant, ["auditor"]))


def sent(api: Api, path: str, body: dict[str, Any] | None = None, *, method: str = "post", **headers: str) -> Ask:
    """A write with a key, which stores its answer in a trip of its own."""
    headers = {"Idempotency-Key": str(uuid4()), **headers}
    return lambda: getattr(api, method)(f"{BASE}{path}", json=body or {}, headers=headers)


def items(count: int) -> list[dict[str, Any]]:
    return [refills(3) for _ in range(count)]


def create(world, count):
    return sent(world.prescriber, "", world.ward.body(*items(count)))


def put(world, count):
    one = world.ward.draft(*items(count))
    body = world.ward.body(*items(count), patient_instructions="With water.")
    tag = world.prescriber.get(f"{BASE}/{one['id']}").headers["ETag"]
    return sent(world.prescriber, f"/{one['id']}", body, method="put", **{"If-Match": tag})


def put_longer(world, count):
    """One more item than before, so that a row and a resource are made."""
    one = world.ward.draft(*items(count))
    tag = world.prescriber.get(f"{BASE}/{one['id']}").headers["ETag"]
    body = world.ward.body(*items(count + 1))
    return sent(world.prescriber, f"/{one['id']}", body, method="put", **{"If-Match": tag})


def of_draft(action, **body):
    return lambda world, count: sent(world.prescriber, f"/{world.ward.draft(*items(count))['id']}/{action}", body)


def sign_validated(world, count):
    one = world.ward.act(world.ward.draft(*items(count)), "validate")
    return sent(world.prescriber, f"/{one['id']}/sign")


def route(world, count):
    one = world.ward.signed(*items(count))
    return sent(world.prescriber, f"/{one['id']}/route", {"pharmacy_location_id": world.ward.pharmacy_id})


def token(world, count):
    return sent(world.prescriber, f"/{world.ward.signed(*items(count))['id']}/token")


def claim(world, count):
    one = world.ward.signed(*items(count))
    found = done(world.prescriber.post(f"{BASE}/{one['id']}/token"), 201)["token"]
    return sent(world.pharmacist, "/claim", {"token": found, "pharmacy_location_id": world.ward.pharmacy_id})


def at_pharmacy(action, **body):
    return lambda world, count: sent(world.pharmacist, f"/{world.ward.routed(*items(count))['id']}/{action}", body)


def reverse(world, count):
    one = world.ward.routed(*items(count))
    given = dispense(world.ward, one)
    return sent(world.pharmacist, f"/{one['id']}/dispensations/{given['id']}/reverse", {"reason_code": "other"})


def cancel_routed(world, count):
    one = world.ward.routed(*items(count))
    return sent(world.prescriber, f"/{one['id']}/cancel", {"reason_code": "prescribing_error"})


def read(side, path=""):
    """A read of a routed prescription by one of the three: of the prescription itself, or of what stands below it."""

    def made(world, count):
        address = f"{BASE}/{world.ward.routed(*items(count))['id']}{path}"
        return lambda: getattr(world, side).get(address)

    return made


def listed(side, query=""):
    def made(world, count):
        world.ward.routed(*items(count))
        return lambda: getattr(world, side).get(f"{BASE}{query}")

    return made


class Row(NamedTuple):
    """What an operation may take: the mark of the contract, None where it names none, and what it takes."""

    name: str
    mark: int | None
    trips: int
    made: Made
    status: int = 200


# A write with a key: the proof with the key, the lock, the change, the stored answer with COMMIT. Beside these, each trip is
# one of what the change depends on, and one where the copy of another tenant is written from the changed rows.
ROWS = (
    Row("create", 6, 5, create, 201),
    Row("put", None, 6, put),
    Row("put with a further item", None, 6, put_longer),
    Row("validate", 4, 4, of_draft("validate")),
    Row("sign a draft", 9, 4, of_draft("sign")),
    Row("sign what is validated", 9, 4, sign_validated),
    Row("route", 9, 6, route),
    Row("token", None, 4, token, 201),
    Row("claim", None, 7, claim),
    Row("acknowledge", None, 5, at_pharmacy("acknowledge")),
    Row("ready", None, 5, at_pharmacy("ready")),
    Row("dispense", 9, 6, at_pharmacy("dispense"), 201),
    Row("return", None, 6, at_pharmacy("return", reason_code="other")),
    Row("reverse", None, 7, reverse),
    Row("cancel a draft", None, 4, of_draft("cancel", reason_code="prescribing_error")),
    Row("cancel what is routed", None, 6, cancel_routed),
    Row("get", 2, 2, read("prescriber")),
    Row("get what was received", 2, 2, read("pharmacist")),
    Row("list", 2, 2, listed("prescriber")),
    Row("list what was issued", 2, 2, listed("prescriber", "?box=issued")),
    Row("list what was received", 2, 2, listed("pharmacist", "?box=received")),
    Row("list of a pharmacy without a box", 2, 2, listed("pharmacist")),
    Row("audit", 1, 1, read("auditor", "/audit")),
    Row("verification", 2, 2, read("prescriber", "/verification")),
)


def renew_keys() -> None:
    """Have the process read its signing keys now, so that no counted request is the one that does."""
    from organizations import signing_keys

    signing_keys.forget_cached_keys()
    signing_keys.published_keys()


def counted(row: Row, world: World, count: int) -> tuple[int, list[str]]:
    ask = row.made(world, count)
    renew_keys()  # a process reads them once a minute, whichever request comes then
    with recording() as record:
        answer = ask()
    assert answer.status_code == row.status, answer.content
    return len(record), record.texts()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_operation_takes_few_trips_whatever_the_items(world, row):
    counted(row, world, 1)  # what is cached is cached
    for count in (1, 3):
        found, texts = counted(row, world, count)
        assert found == row.trips, texts
