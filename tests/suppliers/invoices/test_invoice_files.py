"""Files of invoices and credit notes: their author's own, ready and not private; they stay as evidence, and both read their ids."""

from typing import Any

import pytest

from core.db import tenant_context
from suppliers.files.models import FileBinding
from tests import factories
from tests.races import race
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.notifications.test_messages import a_file
from tests.suppliers.snapshots import everything


def bound(side: Any) -> set[tuple[str, str, str]]:
    """Return what the files of a side are bound to."""
    with tenant_context(side.id):
        found = FileBinding.objects.filter(tenant_id=side.id)
        return {(str(one.file_id), one.resource_type, str(one.resource_id)) for one in found}


def test_files_of_invoices_and_credit_notes_stay(desk: Desk) -> None:
    shelf = desk.dock.shelf
    paper, second, third = (a_file(shelf.tenant) for _ in range(3))
    order = desk.arrived(60)

    made = desk.issue(order, 60, file_ids=[paper, second])
    note = desk.credit(order, made, 10, file_ids=[third])

    for api in (desk.clerk, desk.supplier):
        assert desk.read(made, api=api)["file_ids"] == [paper, second]
        assert desk.read(note, api=api)["file_ids"] == [third]
    assert bound(shelf) == {
        (paper, "invoice", made["id"]), (second, "invoice", made["id"]), (third, "invoice", note["id"]),
    }  # fmt: skip
    assert bound(desk.dock.buyer) == set()
    for one in (paper, third):
        assert refused(desk.supplier.delete(f"/v1/files/{one}"), 409, "file_bound")["bound_to"] == ["invoice"]
    refused(desk.supplier.patch(f"/v1/files/{paper}", json={"bindings": []}), 409, "file_bound")
    desk.stored()


@pytest.mark.parametrize(
    ("given", "code"),
    [({"visibility": "private"}, "file_private"), ({"status": "scanning"}, "file_not_ready"), (None, "unknown_file")],
)
def test_files_that_cannot_be_handed_over(desk: Desk, given: dict[str, str] | None, code: str) -> None:
    shelf, buyer = desk.dock.shelf, desk.dock.buyer
    good = a_file(shelf.tenant)
    bad = a_file(buyer.tenant) if given is None else a_file(shelf.tenant, **given)  # that of another tenant is unknown
    order = desk.arrived(60)
    before = everything(buyer, shelf)

    errors = refused(desk.post(order, 60, file_ids=[good, bad]), 400, "validation_error")["errors"]

    assert [(one["field"], one["code"]) for one in errors] == [("file_ids.1", code)]
    assert everything(buyer, shelf) == before


def test_a_file_is_not_deleted_while_it_becomes_evidence(desk: Desk) -> None:
    paper = a_file(desk.dock.shelf.tenant)
    order = desk.arrived(60)
    keeper = factories.as_member(desk.dock.shelf.tenant, ["supplier_admin"])
    body, path = desk.body(order, 60, file_ids=[paper]), f"/v1/orders/{order['id']}/invoices"

    issued, deleted = race(
        lambda: desk.supplier.post(path, json=body).status_code,
        lambda: keeper.delete(f"/v1/files/{paper}").status_code,
    )

    assert (issued, deleted) in {(201, 409), (400, 204)}
    assert len(bound(desk.dock.shelf)) == (1 if issued == 201 else 0)
