"""The budgets of a tenant that leaves: exported with what is committed and spent of them, and deleted when it is closed."""

import json
from decimal import Decimal
from pathlib import Path

from organizations import portability
from organizations.models import Tenant
from procurement.budgets.commitments import commit
from tests.factories import Api, as_member, provision
from tests.procurement.budgets.budgets import amounts, entries, made, step


def test_budgets_are_exported_and_go_with_their_tenant(api: Api, buyer: Tenant, tmp_path: Path) -> None:
    order = made(api, buyer)
    step(commit, order, Decimal(100))
    stranger = provision("provider")
    step(commit, made(as_member(stranger, ["approver"]), stranger), Decimal(200))

    portability.export(buyer.id, tmp_path)
    deleted = portability.delete_rows(buyer.id)

    for table, members in (
        ("procurement_budget", {"code": "a", "committed": 100}),
        ("procurement_budgetentry", {"document_id": str(order.document_id), "committed": 100}),
    ):
        (row,) = [json.loads(line) for line in (tmp_path / f"{table}.ndjson").read_text().splitlines()]
        assert members.items() <= row.items()
        assert deleted[table] == 1
    assert (amounts(buyer), entries(buyer)) == ({}, [])
    assert amounts(stranger) == {"a": (Decimal("2e2"), Decimal(0))}
