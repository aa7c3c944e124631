"""import_prices: what a file gives, line by line; what is wrong with files and lines; run again, and without writing."""

import csv
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.management import merges
from suppliers.terms.models import PriceList
from tests.factories import Api, provision
from tests.suppliers.products import create, packaging

HEAD = ("supplier_sku", "tiers.0.unit_price")
PATH = "/v1/price-lists/erp"


def table(folder: Path, *lines: Sequence[str], head: Sequence[str] = HEAD, delimiter: str = ",") -> Path:
    """Write a file."""
    out = StringIO()
    csv.writer(out, delimiter=delimiter).writerows([head, *lines])
    path = folder / "prices.csv"
    path.write_bytes(out.getvalue().encode())
    return path


def run(tenant: Tenant, path: Path, *options: str, code: str = "erp") -> str:
    """Return what a run that succeeds shows."""
    out = StringIO()
    call_command(
        "import_prices", str(path), f"--list={code}", f"--tenant={tenant.slug}", *options, stdout=out, stderr=out
    )
    return out.getvalue()


def refused(tenant: Tenant, path: Path, *options: str, code: str = "erp") -> tuple[str, str]:
    """Return what was shown, and the one line of the refusal."""
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(
            "import_prices", str(path), f"--list={code}", f"--tenant={tenant.slug}", *options, stdout=out, stderr=out
        )
    return out.getvalue(), str(caught.value)


def stored(tenant: Tenant) -> tuple[list[tuple[str, str, int, int]], list[str]]:
    """Return code, status, version and entry count of each list, and the events."""
    with tenant_context(tenant.id):
        mine = {"tenant_id": tenant.id}
        lists = (
            PriceList.objects.filter(**mine).order_by("code").values_list("code", "status", "version", "entry_count")
        )
        facts = Event.objects.filter(**mine, type__startswith="price_list.").order_by("occurred_at", "id")
        return list(lists), [one.type for one in facts]


def prices(api: Api) -> dict[str, list[tuple[int, str]]]:
    """Return the tiers of each product of the list."""
    items = api.get(f"{PATH}?limit=100").json()["data"]["entries"]["items"]
    return {one["supplier_sku"]: [(tier["min_quantity"], tier["unit_price"]) for tier in one["tiers"]] for one in items}


@pytest.fixture
def products(api: Api) -> list[dict[str, Any]]:
    """Return three products of one packaging each."""
    return [create(api, supplier_sku=sku) for sku in ("A1", "A2", "A3")]


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_list_that_there_is_not_is_made_as_a_draft(
    supplier: Tenant, api: Api, tmp_path: Path, delimiter: str
) -> None:
    head = ("supplier_sku", "tiers.0.unit_price", "tiers.1.min_quantity", "tiers.1.unit_price", "price_base_quantity")
    path = table(tmp_path, ("A1", "4.40", "50", "4.1", "10"), (), ("A2", "7"), head=head, delimiter=delimiter)

    assert run(supplier, path, "--name=From the ERP") == "2 created, 0 updated, 0 removed, 0 unchanged, 0 failed.\n"

    shown = api.get(PATH).json()["data"]
    assert (shown["name"], shown["currency"], shown["status"]) == ("From the ERP", "EUR", "draft")
    assert shown["entries"]["items"][0]["price_base_quantity"] == 10
    assert prices(api) == {"A1": [(1, "4.40"), (50, "4.10")], "A2": [(1, "7.00")]}
    assert stored(supplier) == ([("erp", "draft", 1, 2)], ["price_list.created"])


def test_a_list_keeps_its_terms_and_what_the_file_does_not_name(
    supplier: Tenant, api: Api, products: list[dict[str, Any]], tmp_path: Path
) -> None:
    buyer = provision("provider")
    terms = {
        "name": "Hospitals", "currency": "USD", "status": "active", "priority": 7, "valid_from": "2026-01-01",
        "assignment": {"scope": "tenants", "ids": [str(buyer.id)], "codes": []},
    }  # fmt: skip
    entries = [{"product_id": one["id"], "tiers": [{"min_quantity": 1, "unit_price": "9"}]} for one in products]
    made = api.put(PATH, json=terms | {"entries": entries})
    assert made.status_code == 201, made.content
    head = ("product_id", "tiers.0.min_quantity", "tiers.0.unit_price", "remove")
    lines = [(products[0]["id"], "1", "9.00"), (products[1]["id"], "2", "8"), (products[2]["id"], "", "", "true")]
    path = table(tmp_path, *lines, head=head)

    assert json.loads(run(supplier, path, "--json", "--currency=USD")) == {
        "created": 0, "updated": 1, "removed": 1, "unchanged": 1, "failed": 0, "dry_run": False, "errors": [],
    }  # fmt: skip

    shown = api.get(PATH).json()["data"]
    assert {name: shown[name] for name in terms} == terms
    assert prices(api) == {"A1": [(1, "9.00")], "A2": [(2, "8.00")]}
    assert run(supplier, path) == "0 created, 0 updated, 0 removed, 3 unchanged, 0 failed.\n"
    assert stored(supplier) == ([("erp", "active", 2, 2)], ["price_list.created", "price_list.updated"])


@pytest.mark.parametrize("scope", ["organizations", "groups"])
def test_a_list_keeps_its_buyers(
    supplier: Tenant, api: Api, products: list[dict[str, Any]], tmp_path: Path, scope: str
) -> None:
    buyer = provision("provider")
    group = {"code": "g", "name": "G", "buyer_ids": [str(buyer.id)]}
    assert api.patch("/v1/suppliers/me", json={"buyer_groups": [group]}).status_code == 200
    ids, codes = ([], ["g"]) if scope == "groups" else ([str(buyer.organization_id)], [])
    assignment = {"scope": scope, "ids": ids, "codes": codes}
    body = {"name": "N", "currency": "EUR", "entries": [], "assignment": assignment}
    assert api.put(PATH, json=body).status_code == 201

    run(supplier, table(tmp_path, (products[0]["supplier_sku"], "3")))

    assert api.get(PATH).json()["data"]["assignment"] == assignment
    assert prices(api) == {"A1": [(1, "3.00")]}


@pytest.mark.usefixtures("products")
def test_a_dry_run_judges_and_writes_nothing(supplier: Tenant, tmp_path: Path) -> None:
    shown, said = refused(supplier, table(tmp_path, ("A1", "4"), ("A2", "-1")), "--dry-run")

    assert "1 created, 0 updated, 0 removed, 0 unchanged, 1 failed. Nothing was written (--dry-run)." in shown
    assert (said, stored(supplier)) == ("1 lines failed.", ([], []))


@pytest.mark.usefixtures("products")
def test_lines_that_fail_are_told_and_the_others_written(supplier: Tenant, api: Api, tmp_path: Path) -> None:
    two = create(api, supplier_sku="B1", packagings=[packaging(), packaging(level="case", units_per_pack=10)])
    head = (*HEAD, "packaging_id", "product_id")
    lines = [
        ("A1", "4"),
        ("A1", "5"),
        ("A2", "1.1234567"),
        ("A3", "x"),
        ("none", "4"),
        ("B1", "4"),
        ("B1", "4", two["packagings"][0]["id"]),
        ("B1", "4", two["packagings"][0]["id"]),
        ("A2", "4", two["packagings"][0]["id"]),
        ("A2", "4", "", "", "surplus"),
        ("", "4"),
        ("A3", ""),
    ]
    path, errors = table(tmp_path, *lines, head=head), tmp_path / "errors.csv"

    shown, said = refused(supplier, path, f"--errors={errors}")

    assert said == "10 lines failed."
    with errors.open(newline="", encoding="utf-8") as file:
        told = [(row["line"], row["supplier_sku"], row["field"], row["code"]) for row in csv.DictReader(file)]
    assert told == [
        ("3", "A1", "", "duplicate"),
        ("4", "A2", "tiers.0.unit_price", "max_decimal_places"),
        ("5", "A3", "tiers.0.unit_price", "invalid"),
        ("6", "none", "", "unknown_product"),
        ("7", "B1", "packaging_id", "required"),
        ("9", "B1", "", "duplicate"),
        ("10", "A2", "packaging_id", "unknown_packaging"),
        ("11", "", "", "invalid"),
        ("12", "", "product_id", "required"),
        ("13", "A3", "tiers", "required"),
    ]
    assert "line 3 (A1): duplicate: Another line names the same." in shown
    assert prices(api) == {"A1": [(1, "4.00")], "B1": [(1, "4.00")]}


def test_lines_that_all_fail_make_no_list(supplier: Tenant, tmp_path: Path) -> None:
    assert refused(supplier, table(tmp_path, ("none", "4")))[1] == "1 lines failed."
    assert stored(supplier) == ([], [])


@pytest.mark.usefixtures("products")
def test_batches_stand_for_themselves_and_a_run_that_broke_off_goes_on(
    supplier: Tenant, api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merges, "BATCH", 1)
    lines = [("A1", "4"), *[("none", "1")] * 2_000, ("A2", "5"), ("A1", "6")]
    path = table(tmp_path, *lines)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"A2,5", b"\xff\xfe"))

    said = refused(supplier, path)[1]

    assert said.endswith("the file is not UTF-8. 1 entries were written before.")
    assert prices(api) == {"A1": [(1, "4.00")]}
    path.write_bytes(whole.replace(b"none,1\r\n", b""))
    shown, said = refused(supplier, path)
    assert "line 4 (A1): duplicate: Another line names the same." in shown
    assert prices(api) == {"A1": [(1, "4.00")], "A2": [(1, "5.00")]}


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), "a b", "validation_error: code: A code is 1 to 64"),
        (("--currency=XXX",), "new", "validation_error: currency:"),
        (("--currency=USD",), "erp", "field_locked: The list's currency is EUR."),
        ((), "old", "invalid_transition: "),
    ],
)
def test_a_list_that_does_not_take_the_file_is_one_line(
    supplier: Tenant, api: Api, tmp_path: Path, options: tuple[str, ...], code: str, said: str
) -> None:
    run(supplier, table(tmp_path, ("A1", "4")))
    body = {"name": "Old", "currency": "EUR", "status": "archived", "entries": []}
    assert api.put("/v1/price-lists/old", json=body).status_code == 201
    before = stored(supplier)

    assert refused(supplier, table(tmp_path, ("A2", "4")), *options, code=code)[1].startswith(said)
    assert stored(supplier) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The first line names no column supplier_sku or product_id."),
        (b"sku,price\nA1,4\n", "The first line names no column supplier_sku or product_id."),
        (b"supplier_sku,price\nA1,4\n", "Entries of a price list have no member 'price'."),
        (b"supplier_sku,tiers\nA1,4\n", "Entries of a price list have no member 'tiers'."),
        (b"supplier_sku,tiers.20.unit_price\nA1,4\n", "Entries of a price list have no member 'tiers.20.unit_price'."),
        (b"supplier_sku,supplier_sku\nA1,A2\n", "Two columns have the same name."),
        (b"supplier_sku,tiers.0.unit_price\nA1,\xff\xfe\n", "the file is not UTF-8."),
        (b'supplier_sku,tiers.0.unit_price\nA1,"never closed\n', "Behind line 1: unexpected end of data."),
    ],
)
def test_a_file_that_is_no_table_is_one_line(supplier: Tenant, tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "prices.csv"
    path.write_bytes(content)

    assert refused(supplier, path)[1].endswith(said)
    assert stored(supplier) == ([], [])


def test_unknown_files_and_tenants_are_one_line(supplier: Tenant, tmp_path: Path) -> None:
    assert refused(supplier, tmp_path / "none.csv")[1].endswith("none.csv: No such file or directory")
    path = table(tmp_path, ("A1", "4"))
    for tenant in (provision("provider"), Tenant(slug="nobody")):
        assert refused(tenant, path)[1] == f"There is no open supplier {tenant.slug!r}."


@pytest.mark.usefixtures("products")
def test_products_of_others_do_not_exist(tmp_path: Path) -> None:
    stranger = provision("supplier")

    assert "unknown_product" in refused(stranger, table(tmp_path, ("A1", "4")))[0]
    assert stored(stranger) == ([], [])
