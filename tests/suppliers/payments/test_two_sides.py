"""Payments as both parties read them: what is the buyer's alone, lists with filters and pages, tags, managed suppliers."""

from typing import Any
from uuid import UUID

import orjson
import pytest

from core.db import tenant_context
from ledger.public import Event
from suppliers.payments.models import ReceivedPayment
from tests import factories
from tests.factories import Api
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.payments.tills import PATH, Till, read

ACCOUNT, REFERENCE = "DE89370400440532013000", "RUN-7761-SECRET"
PRIVATE = ("bank_account", "provider_reference", "created_by", "confirmed_by")


def listed(api: Api, query: str = "") -> list[str]:
    answer = api.get(f"{PATH}{query}")
    assert answer.status_code == 200, answer.content
    return [one["id"] for one in answer.json()["data"]]


def test_the_supplier_never_reads_what_is_the_buyer_s_alone(till: Till) -> None:
    key = till.invoice("10")
    made = till.pay((key, "10"), bank_account=ACCOUNT, provider_reference=REFERENCE, remittance_text="Thank you")
    till.confirm(made["id"], "succeeded", provider_reference=f"{REFERENCE}-2", reason="Paid at last")
    payer = made["created_by"]
    mine = read(till.payer, made["id"])
    assert [mine[name] for name in PRIVATE] == [ACCOUNT, f"{REFERENCE}-2", payer, payer]

    told: list[Any] = [till.shelf.api.get(f"{PATH}/{made['id']}").content, till.shelf.api.get(PATH).content]
    told.append(till.shelf.api.get("/v1/events?limit=100").content)
    with tenant_context(till.shelf.id):
        copy = ReceivedPayment.objects.get(tenant_id=till.shelf.id, pk=made["id"])
        told += [orjson.dumps([copy.representation, copy.number, copy.status])]
        facts = Event.objects.filter(tenant_id=till.shelf.id, resource_id=made["id"])
        told += [orjson.dumps([one.data, one.figures, str(one.subject_id), one.credential]) for one in facts]

    assert len(told) > 4
    for content in told:
        text = content.decode()
        assert ACCOUNT not in text
        assert REFERENCE not in text
        assert payer not in text
    theirs = read(till.shelf.api, made["id"])
    assert [theirs[name] for name in PRIVATE] == [None] * 4
    shared = [name for name in mine if name not in (*PRIVATE, "version", "timeline", "created_at", "updated_at")]
    assert {name: theirs[name] for name in shared} == {name: mine[name] for name in shared}
    assert theirs["remittance_text"] == "Thank you"
    assert [(one["action"], one["by"], one["reason"]) for one in theirs["timeline"]] == [
        ("succeeded", "buyer", "Paid at last"), ("created", "buyer", None),
    ]  # fmt: skip
    assert {one["actor_id"] for one in theirs["timeline"]} == {None}
    assert {one["actor_id"] for one in mine["timeline"]} == {payer}


def test_what_the_bank_has_said_both_read(till: Till) -> None:
    made = till.pay((till.invoice("10"), "10"))
    till.confirm(made["id"], "failed", failure={"code": "AC04", "message": "The account is closed."})
    for api in (till.payer, till.shelf.api):
        found = read(api, made["id"])
        assert found["failure"] == {"code": "AC04", "message": "The account is closed."}
        assert found["ended_at"] is not None
        assert found["timeline"][0]["reason"] == "The account is closed."


def test_lists_of_both_sides(till: Till) -> None:
    key = till.invoice("100")
    one = till.pay((key, "1"), value_date="2026-02-10")["id"]
    two = till.pay((key, "2"), value_date="2026-03-10")["id"]
    three = till.pay((key, "3"))["id"]
    till.settled(one, "succeeded")

    for api, other in ((till.payer, f"supplier_id={till.shelf.id}"), (till.shelf.api, f"buyer_id={till.buyer.id}")):
        assert listed(api) == [three, two, one]
        assert listed(api, f"?{other}") == [three, two, one]
        assert listed(api, f"?{other.split('=')[0]}={UUID(int=7)}") == []
        assert listed(api, "?status=succeeded,failed") == [one]
        assert listed(api, "?from=2026-02-10&to=2026-03-10") == [one]
        assert listed(api, "?from=2026-03-10") == [three, two]
        assert listed(api, "?to=2026-03-11") == [two, one]
        assert listed(api, "?sort=payment_number") == [one, two, three]
        assert listed(api, "?updated_since=2026-01-01T00:00:00Z&sort=updated_at") == [two, three, one]
        assert listed(api, f"?search={read(api, two)['payment_number'].lower()}") == [two]
        refused(api.get(f"{PATH}?status=gone"), 400, "validation_error")
        refused(api.get(f"{PATH}?method=offset"), 400, "unknown_parameter")
        refused(api.get(f"{PATH}?from=2026-03-10&to=2026-03-09"), 400, "validation_error")
        assert listed(api, f"?search={till.shelf.tenant.name if api is till.payer else till.buyer.tenant.name}") != []
    refused(till.payer.get(f"{PATH}?buyer_id={till.buyer.id}"), 400, "validation_error")
    refused(till.shelf.api.get(f"{PATH}?supplier_id={till.shelf.id}"), 400, "validation_error")


def test_pages_follow_each_other(till: Till) -> None:
    key = till.invoice("100")
    made = [till.pay((key, "1"))["id"] for _ in range(5)]
    for api in (till.payer, till.shelf.api):
        found, cursor = [], ""
        for _ in range(3):
            page = api.get(f"{PATH}?limit=2{cursor}").json()
            found += [one["id"] for one in page["data"]]
            cursor = f"&cursor={page['next_cursor']}"
        assert (found, page["has_more"], page["limit"]) == (made[::-1], False, 2)


def test_tags_of_both_sides_move_with_what_each_sees(till: Till) -> None:
    made = till.pay((till.invoice("10"), "10"))
    for api in (till.payer, till.shelf.api):
        answer = api.get(f"{PATH}/{made['id']}")
        tag = answer.headers["ETag"]
        assert api.get(f"{PATH}/{made['id']}", headers={"If-None-Match": tag}).status_code == 304
        fewer = api.get(f"{PATH}/{made['id']}?fields=status,amount")
        assert fewer.json()["data"] == {"id": made["id"], "status": "pending", "amount": "10.00"}
        refused(api.get(f"{PATH}/{made['id']}?fields=secret"), 400, "unknown_field")
        refused(api.get(f"{PATH}/{made['id']}?side=buyer"), 400, "unknown_parameter")
    till.settled(made["id"], "processing")
    assert till.shelf.api.get(f"{PATH}/{made['id']}").headers["ETag"] == '"2"'


def test_a_key_reads_as_the_supplier(till: Till) -> None:
    made = till.pay((till.invoice("10"), "10"))
    keyed = Api(key=factories.api_key(till.shelf.tenant, ["supplier_orders"]), tenant=till.shelf.tenant)
    assert listed(keyed) == [made["id"]]
    assert read(keyed, made["id"])["bank_account"] is None
    other = Api(key=factories.api_key(till.shelf.tenant, ["supplier_pricing"]), tenant=till.shelf.tenant)
    refused(other.get(PATH), 403, "insufficient_scope")


def test_location_of_a_new_payment(till: Till) -> None:
    answer = till.post((till.invoice("10"), "10"))
    assert (answer.status_code, answer.headers["Location"]) == (201, f"{PATH}/{answer.json()['data']['id']}")
    assert UUID(answer.json()["data"]["id"]).version == 7


@pytest.mark.parametrize("given", ["2026-02-09", None])
def test_the_value_date_of_what_succeeds(till: Till, given: str | None) -> None:
    made = till.pay((till.invoice("10"), "10"))
    body = {"value_date": given} if given else {}
    found = till.confirm(made["id"], "succeeded", **body).json()["data"]["value_date"]
    assert found == given if given else found is not None
