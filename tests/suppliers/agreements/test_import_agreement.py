"""import_agreement: what a file gives a draft, line by line; what is wrong with files and lines; run again, without writing."""

import csv
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.agreements.models import AgreementDraft
from tests.factories import provision
from tests.suppliers.agreements.world import PATH, World, events, more_products
from tests.suppliers.products import create, packaging

HEAD = ("supplier_sku", "tiers.0.unit_price")


def table(folder: Path, *lines: Sequence[str], head: Sequence[str] = HEAD) -> Path:
    """Write a file."""
    out = StringIO()
    csv.writer(out).writerows([head, *lines])
    path = folder / "lines.csv"
    path.write_bytes(out.getvalue().encode())
    return path


def run(tenant: Tenant, key: str, path: Path, *options: str) -> str:
    """Return what a run that succeeds shows."""
    out = StringIO()
    words = (str(path), f"--agreement={key}", f"--tenant={tenant.slug}", *options)
    call_command("import_agreement", *words, stdout=out, stderr=out)
    return out.getvalue()


def refused(tenant: Tenant, key: str, path: Path, *options: str) -> tuple[str, str]:
    """Return what was shown, and the one line of the refusal."""
    out = StringIO()
    words = (str(path), f"--agreement={key}", f"--tenant={tenant.slug}", *options)
    with pytest.raises(CommandError) as caught:
        call_command("import_agreement", *words, stdout=out, stderr=out)
    return out.getvalue(), str(caught.value)


def draft(world: World, by: str, key: str) -> dict[str, Any]:
    """Return a draft as its author reads it."""
    return dict(world.api(by).get(f"{PATH}/{key}?revision=draft").json()["data"])


@pytest.mark.parametrize("by", ["supplier", "buyer"])
def test_lines_of_a_file_are_merged_into_the_draft(world: World, tmp_path: Path, by: str) -> None:
    one, two, three = more_products(world.seller, 3)
    key = world.drafted(by)
    head = (
        "product_id", "supplier_sku", "category", "packaging_id", "tiers.0.unit_price", "tiers.0.discount_percent",
        "tiers.1.min_quantity", "tiers.1.unit_price", "max_quantity", "remove",
    )  # fmt: skip
    lines = [
        (one["id"], "", "", one["packagings"][0]["id"], "4.4", "", "50", "4.1", "1000", ""),
        ("", two["supplier_sku"], "", "", "7", "", "", "", "", ""),
        ("", three["supplier_sku"], "", "", "", "5", "", "", "", ""),
        ("", "", "gloves", "", "", "2.5", "", "", "", ""),
        (world.product["id"], "", "", world.product["packagings"][0]["id"], "", "", "", "", "", "true"),
    ]
    path, tenant = table(tmp_path, *lines, head=head), {"supplier": world.supplier, "buyer": world.hospital}[by]

    assert json.loads(run(tenant, key, path, "--json")) == {
        "created": 4, "updated": 0, "removed": 1, "unchanged": 0, "failed": 0, "dry_run": False, "errors": [],
    }  # fmt: skip

    found = draft(world, by, key)
    assert [
        (line["product_id"], line["category"], line["packaging_id"], line["max_quantity"]) for line in found["lines"]
    ] == [
        (one["id"], None, one["packagings"][0]["id"], 1000),
        (two["id"], None, two["packagings"][0]["id"], None),
        (three["id"], None, None, None),
        (None, "gloves", None, None),
    ]
    assert [line["tiers"] for line in found["lines"]] == [
        [{"min_quantity": 1, "unit_price": "4.40"}, {"min_quantity": 50, "unit_price": "4.10"}],
        [{"min_quantity": 1, "unit_price": "7.00"}],
        [{"min_quantity": 1, "discount_percent": "5"}],
        [{"min_quantity": 1, "discount_percent": "2.5"}],
    ]
    assert run(tenant, key, path) == "0 created, 0 updated, 0 removed, 5 unchanged, 0 failed.\n"
    assert draft(world, by, key) == found
    assert events(tenant) == ["price_agreement.created", "price_agreement.updated"]
    assert world.act(by, key, "propose").status_code == 200


def test_a_dry_run_judges_and_writes_nothing(world: World, tmp_path: Path) -> None:
    key, (one,) = world.drafted("buyer"), more_products(world.seller, 1)
    before = world.stored()

    shown, said = refused(world.hospital, key, table(tmp_path, (one["supplier_sku"], "4"), ("none", "4")), "--dry-run")

    assert "1 created, 0 updated, 0 removed, 0 unchanged, 1 failed. Nothing was written (--dry-run)." in shown
    assert (said, world.stored()) == ("1 lines failed.", before)


def test_lines_that_fail_are_told_and_the_others_written(world: World, tmp_path: Path) -> None:
    key, (one,) = world.drafted("buyer"), more_products(world.seller, 1)
    two = create(world.seller, packagings=[packaging(), packaging(level="case", units_per_pack=10)])
    own, case = world.product, two["packagings"][1]["id"]
    head = (*HEAD, "packaging_id", "product_id", "category", "max_quantity", "tiers.0.discount_percent")
    lines = [
        (one["supplier_sku"], "4"),
        (one["supplier_sku"], "5"),
        (two["supplier_sku"], "4"),
        (two["supplier_sku"], "4", case),
        ("none", "4"),
        (own["supplier_sku"], "4", case),
        (own["supplier_sku"], "4", "", own["id"]),
        ("", "4", "", own["id"]),
        ("", "4", "", "", "gloves"),
        ("", "", "", "", "moon-dust", "", "5"),
        ("", "4", "", str(uuid4()), "", "", "5"),
        (own["supplier_sku"], "4", "", "", "", "0"),
        ("",),
    ]
    path, errors = table(tmp_path, *lines, head=head), tmp_path / "errors.csv"

    shown, said = refused(world.hospital, key, path, f"--errors={errors}")

    with errors.open(newline="", encoding="utf-8") as file:
        told = [(row["line"], row["field"], row["code"]) for row in csv.DictReader(file)]
    assert told == [
        ("3", "", "duplicate"),
        ("4", "packaging_id", "required"),
        ("6", "supplier_sku", "unknown_product"),
        ("7", "packaging_id", "unknown_packaging"),
        ("8", "product_id", "required"),
        ("9", "packaging_id", "required"),
        ("10", "tiers", "invalid"),
        ("11", "category", "unknown_category"),
        ("12", "tiers.0.unit_price", "required"),
        ("13", "max_quantity", "min_value"),
    ]
    assert said == "10 lines failed."
    assert f"line 3 ({one['supplier_sku']}): duplicate: Another line names the same." in shown
    found = [(line["product_id"], line["packaging_id"]) for line in draft(world, "buyer", key)["lines"]]
    assert found[1:] == [(one["id"], one["packagings"][0]["id"]), (two["id"], case)]


def test_the_cells_of_a_file_cannot_empty_a_draft(world: World, tmp_path: Path) -> None:
    key = world.drafted("buyer")
    before = world.stored()
    cells = (world.product["id"], world.product["packagings"][0]["id"], "true")

    said = refused(world.hospital, key, table(tmp_path, cells, head=("product_id", "packaging_id", "remove")))[1]

    assert said == "validation_error: lines: An agreement has at least one line."
    assert world.stored() == before


def test_what_is_no_own_draft_is_one_line(world: World, tmp_path: Path) -> None:
    path = table(tmp_path, (world.product["supplier_sku"], "4"))
    draft_of_other, proposed, active = world.drafted("supplier"), world.proposed("buyer"), world.active(currency="USD")
    before = world.stored()
    begin = "There is no draft of it; an empty PATCH begins one of the next version."

    assert refused(world.hospital, str(uuid4()), path)[1] == "not_found: No such price agreement."
    assert refused(world.hospital, draft_of_other, path)[1] == "not_found: No such price agreement."
    assert refused(provision("provider"), proposed, path)[1] == "not_found: No such price agreement."
    assert refused(world.supplier, proposed, path)[1] == f"agreement_immutable: {begin}"
    assert refused(world.hospital, active, path)[1] == f"agreement_immutable: {begin}"
    assert refused(Tenant(slug="nobody"), active, path)[1] == "There is no tenant 'nobody'."
    assert world.stored() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The first line names no column supplier_sku or product_id or category."),
        (b"supplier_sku,price\nA1,4\n", "Lines of an agreement have no member 'price'."),
        (b"product_id,tiers.0.unit_price\nA1,\xff\xfe\n", "the file is not UTF-8."),
        (b'product_id,tiers.0.unit_price\nA1,"never closed\n', "Behind line 1: unexpected end of data."),
    ],
)
def test_a_file_that_is_no_table_is_one_line(world: World, tmp_path: Path, content: bytes, said: str) -> None:
    key, path = world.drafted("buyer"), tmp_path / "lines.csv"
    path.write_bytes(content)
    before = world.stored()

    assert refused(world.hospital, key, path)[1].endswith(said)
    assert world.stored() == before


def test_ten_thousand_lines_fit_and_one_more_does_not(world: World, tmp_path: Path) -> None:
    key, (one,) = world.drafted("buyer"), more_products(world.seller, 1)
    line = {
        "category": None, "packaging_id": None, "tiers": [{"min_quantity": 1, "discount_percent": "5"}],
        "price_base_quantity": 1, "max_quantity": None, "min_remaining_shelf_life_days": None, "lead_time_days": None,
    }  # fmt: skip
    many = [{**line, "product_id": str(uuid4())} for _ in range(9_999)]
    with tenant_context(world.hospital.id):
        mine = AgreementDraft.objects.filter(tenant_id=world.hospital.id)
        mine.update(lines=many, lines_total=len(many))

    path = table(tmp_path, (world.product["supplier_sku"], "4"))
    assert run(world.hospital, key, path) == "1 created, 0 updated, 0 removed, 0 unchanged, 0 failed.\n"
    said = refused(world.hospital, key, table(tmp_path, (one["supplier_sku"], "4")))[1]

    assert said == "validation_error: lines: An agreement has at most 10000 lines; there would be 10001."
    assert draft(world, "buyer", key)["lines_total"] == 10_000
