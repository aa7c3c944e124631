"""The recall desk: whom a recall would concern, who issues it, what the desk shows, and the trace as a file."""

from datetime import date
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from organizations.models import User
from tests.admin.people import REASON, act_in, signed_in
from tests.suppliers.inventory import recalls as recalling
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import facts, list_concerned, lot_of, notices, recall, walk
from tests.suppliers.inventory.shelf import Buyer, Shelf, broken, reserve

LOTS, DESK = "/admin/suppliers/lot/", "/admin/suppliers/recall/"
FORM = {"recall_class": "I", "reference": "=FSCA-1", "instructions": "Set aside.", "reason": REASON}


@pytest.fixture
def shelved() -> tuple[Shelf, Buyer]:
    shelf, buyer = shelves.shelf(), shelves.buyer()
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product(tracking="lot")
    shelf.stock(product, 10, lot="L1", expiry=date(2031, 1, 1))
    shelf.offer(product)
    reserve(buyer, shelf, (product, 4))
    return shelf, buyer


def at_the_desk(shelf: Shelf, role: str = "supply", person: User | None = None) -> Any:
    browser = signed_in(role, person)
    act_in(browser, shelf.tenant)
    return browser


def test_staff_preview_issue_and_follow_a_recall(shelved: tuple[Shelf, Buyer]) -> None:
    shelf, buyer = shelved
    browser, lot = at_the_desk(shelf), lot_of(shelf)
    found = browser.get(f"{LOTS}?q=L1").content.decode()
    page = f"{LOTS}{lot.id}/"
    form = browser.get(f"{page}do/recall/").content.decode()
    answer = browser.post(f"{page}do/recall/", FORM)

    assert "L1" in found
    assert "10 base units are on hand, 4 of them reserved for 1 buyer" in form
    assert buyer.tenant.name in form
    assert answer.status_code == 302, answer.content[-2000:]
    assert lot_of(shelf).status == "recalled"
    desk = browser.get(DESK).content.decode()
    (row,) = recalling.recalls(shelf)
    unlisted = browser.get(f"{DESK}{row.id}/change/").content.decode()
    list_concerned(shelf)
    before = browser.get(f"{DESK}{row.id}/change/").content.decode()
    walk(shelf)
    recalling.answer(buyer, notices(shelf)[0].id, quantity_found=3, quantity_disposed=1, note="=1+1")
    after = browser.get(f"{DESK}{row.id}/change/").content.decode()
    trace = browser.get(f"{DESK}{row.id}/trace/")
    assert "0 of 1" in desk
    assert "Find a lot to recall" in desk
    assert "The 1 buyer concerned is being listed" in unlisted
    assert "being listed" not in before
    assert "not yet" in before
    assert "not yet" not in after
    assert "1 of 1" in after
    head, line = trace.content.decode().splitlines()
    assert head.startswith("lot_number,recall_class,reference,buyer_tenant_id,name,status,reserved,received,")
    assert line.startswith(f"L1,I,'=FSCA-1,{buyer.id},")
    assert line.endswith(",3,1,'=1+1")
    actions = [one.data["action"] for one in facts(shelf, "staff_action.")]
    assert actions == ["lot.recall"]
    assert broken(shelf, buyer) == []


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_do_not_recall(shelved: tuple[Shelf, Buyer], role: str) -> None:
    shelf, _ = shelved
    browser = at_the_desk(shelf, role)
    assert browser.post(f"{LOTS}{lot_of(shelf).id}/do/recall/", FORM).status_code in (403, 404)
    assert (lot_of(shelf).status, recalling.recalls(shelf)) == ("released", [])


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"reason": ""}, "This field is required."), ({"recall_class": "IV"}, "Choose one of: I, II, III")],
)
def test_bad_form_recalls_nothing(shelved: tuple[Shelf, Buyer], changes: dict[str, str], said: str) -> None:
    shelf, _ = shelved
    answer = at_the_desk(shelf).post(f"{LOTS}{lot_of(shelf).id}/do/recall/", FORM | changes)
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert lot_of(shelf).status == "released"


def test_recalled_lot_has_no_button_and_strangers_no_trace(shelved: tuple[Shelf, Buyer]) -> None:
    shelf, buyer = shelved
    recall(shelf)
    (row,) = recalling.recalls(shelf)
    browser = at_the_desk(shelf)
    assert "do/recall/" not in browser.get(f"{LOTS}{lot_of(shelf).id}/change/").content.decode()
    act_in(browser, buyer.tenant)
    assert browser.get(f"{DESK}{row.id}/trace/").status_code == 404


def command(shelf: Shelf, *words: str) -> str:
    out = StringIO()
    call_command("recall_lot", "--tenant", str(shelf.id), *words, stdout=out)
    return out.getvalue()


def test_command_previews_and_recalls(shelved: tuple[Shelf, Buyer]) -> None:
    shelf, buyer = shelved
    said = command(shelf, "--lot", "L1", "--preview")
    assert f"{buyer.tenant.name}: 1 reservations, 4 base units" in said
    assert lot_of(shelf).status == "released"
    with pytest.raises(CommandError, match=r"recall\.class"):
        command(shelf, "--lot", "L1", "--reason", "Seal broken")
    assert lot_of(shelf).status == "released"
    assert "Recalled." in command(shelf, "--lot", "L1", "--class", "II", "--reason", "Seal broken")
    assert lot_of(shelf).status == "recalled"


def test_command_demands_one_lot(shelved: tuple[Shelf, Buyer]) -> None:
    shelf, _ = shelved
    with pytest.raises(CommandError, match="No such lot"):
        command(shelf, "--lot", "L9", "--preview")
    with pytest.raises(CommandError, match="There is no tenant"):
        call_command("recall_lot", "--tenant", "nobody", "--lot", "L1")
    second = shelf.product(tracking="lot")
    shelf.stock(second, 1, lot="L1")
    with pytest.raises(CommandError, match="name one by --product"):
        command(shelf, "--lot", "L1", "--preview")
    assert second["supplier_sku"] in command(shelf, "--lot", "L1", "--product", second["supplier_sku"], "--preview")
    assert recalling.recalls(shelf) == []
