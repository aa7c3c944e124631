"""The pages of approvals: what staff see of what was decided, from the order on, and that nothing changes it."""

from typing import Any

from tests.admin.people import act_in, signed_in
from tests.factories import provision
from tests.procurement.approvals.desk import TWO, decide, done
from tests.procurement.approvals.desk import desk as a_desk

ORDERS = "/admin/suppliers/purchaseorder/"
APPROVALS = "/admin/procurement/approval/"
STEPS = "/admin/procurement/approvalstep/"


def text(browser: Any, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def test_approvals_are_shown_from_their_order_and_never_change() -> None:
    desk = a_desk()
    desk.policies(approval_steps=TWO)
    order, other, ann = desk.pending(), desk.pending(), desk.person()
    done(decide(ann, order["id"], note="Needed before winter"))
    (row,), (step, *_) = desk.rows(), desk.steps()
    browser = signed_in("supply")
    act_in(browser, desk.tenant)

    found = text(browser, f"{ORDERS}{order['id']}/change/")
    assert f'{APPROVALS}?q={order["id"]}"' in found
    listed = text(browser, f"{APPROVALS}?q={order['id']}")
    assert ann.id in listed
    assert ann.id not in text(browser, f"{APPROVALS}?q={other['id']}").partition("result_list")[2]
    one = text(browser, f"{APPROVALS}{row.id}/change/")
    assert "Needed before winter" in one
    assert order["po_number"] in text(browser, STEPS)
    assert text(browser, f"{STEPS}{step.id}/change/")
    for address in (f"{APPROVALS}{row.id}/", f"{STEPS}{step.id}/"):
        assert browser.post(f"{address}change/", {"note": "x"}).status_code == 403
        assert browser.get(f"{address}delete/").status_code == 403
    assert [one.note for one in desk.rows()] == [row.note]


def test_other_tenants_approvals_are_not_shown() -> None:
    desk = a_desk()
    order, ann = desk.pending(), desk.person()
    done(decide(ann, order["id"]))
    (row,) = desk.rows()
    browser = signed_in("supply")
    act_in(browser, provision("provider"))

    assert ann.id not in text(browser, APPROVALS)
    assert browser.get(f"{APPROVALS}{row.id}/change/").status_code in (302, 404)
