"""import_catalog: what a file gives, line by line; what is wrong with files and lines; run again, and without writing."""

import csv
import json
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.catalog.models import Product
from suppliers.management.catalog_import import PRODUCTS
from suppliers.management.csv_files import lines_of
from tests import factories
from tests.factories import Api
from tests.suppliers.products import create, gtin, listed

HEAD = ["supplier_sku", "name", "category", "kind", "base_unit", "packagings.0.level", "packagings.0.units_per_pack"]


def line(sku: str, *more: str, name: str = "Gloves") -> list[str]:
    return [sku, name, "gloves", "consumable", "EA", "each", "1", *more]


def table(folder: Path, *lines: list[str], head: tuple[str, ...] = (), delimiter: str = ",", bom: str = "") -> Path:
    out = StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([[*HEAD, *head], *lines])
    path = folder / "catalog.csv"
    path.write_bytes((bom + out.getvalue()).encode())
    return path


def run(tenant: Tenant, path: Path, *options: str) -> str:
    out = StringIO()
    call_command("import_catalog", str(path), f"--tenant={tenant.slug}", *options, stdout=out, stderr=out)
    return out.getvalue()


def refused(tenant: Tenant, path: Path, *options: str) -> tuple[str, str]:
    """What was shown, and the one line of the refusal."""
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("import_catalog", str(path), f"--tenant={tenant.slug}", *options, stdout=out, stderr=out)
    return out.getvalue(), str(caught.value)


def count(tenant: Tenant) -> int:
    with tenant_context(tenant.id):
        return int(Product.objects.filter(tenant_id=tenant.id).count())


def stored(api: Api, sku: str) -> dict[str, Any]:
    (found,) = api.get(f"/v1/products?search={sku}").json()["data"]["items"]
    return dict(found)


@pytest.mark.parametrize(("delimiter", "bom"), [(",", ""), (";", "\ufeff"), ("\t", "")])
def test_lines_become_products(supplier: Tenant, api: Api, tmp_path: Path, delimiter: str, bom: str) -> None:
    code = gtin()
    head = (
        "storage.min_c", "storage.max_c", "packagings.1.level", "packagings.1.units_per_pack", "packagings.1.gtin",
        "prescription_only", "national_codes.0.system", "national_codes.0.value", "attributes.0.code", "attributes.0.value",
        "status",
    )  # fmt: skip
    cells = ("2", "8.5", "case", "10", code, "true", "PZN", "00123456", "single_use", "true", "active")
    path = table(
        tmp_path, line("A1", *cells, name='Größe; M, "weiß"'), [], line("A2"), head=head, delimiter=delimiter, bom=bom
    )

    assert run(supplier, path) == "2 created, 0 updated, 0 unchanged, 0 failed.\n"

    found = stored(api, "A1")
    assert (found["name"], found["status"], found["prescription_only"]) == ('Größe; M, "weiß"', "active", True)
    assert found["storage"] == {"min_c": 2.0, "max_c": 8.5, "light_sensitive": False, "cold_chain": False}
    assert [(one["level"], one["gtin"]) for one in found["packagings"]] == [("each", None), ("case", f"0{code}")]
    assert found["national_codes"] == [{"system": "PZN", "value": "00123456"}]
    assert (found["attributes"][0]["code"], found["attributes"][0]["value"]) == ("single_use", True)
    assert stored(api, "A2")["status"] == "draft"
    assert listed(api, f"search={code}")[0] == ["A1"]


def test_a_second_run_changes_nothing_and_merge_keeps_what_the_file_leaves_out(
    supplier: Tenant, api: Api, tmp_path: Path
) -> None:
    made = create(api, supplier_sku="A1", name="Gloves", description="Kept.")
    path = table(tmp_path, line("A1", name="Gloves, new"), line("A2"))

    assert json.loads(run(supplier, path, "--json")) == {
        "created": 1, "updated": 1, "unchanged": 0, "failed": 0, "dry_run": False, "errors": [],
    }  # fmt: skip
    assert run(supplier, path) == "0 created, 0 updated, 2 unchanged, 0 failed.\n"
    found = api.get(f"/v1/products/{made['id']}").json()["data"]
    assert (found["name"], found["description"], found["version"]) == ("Gloves, new", "Kept.", 2)
    assert run(supplier, path, "--mode=replace") == "0 created, 1 updated, 1 unchanged, 0 failed.\n"
    assert api.get(f"/v1/products/{made['id']}").json()["data"]["description"] == ""


def test_a_dry_run_judges_and_writes_nothing(supplier: Tenant, tmp_path: Path) -> None:
    path = table(tmp_path, line("A1"), line("A2", name=""))

    shown, said = refused(supplier, path, "--dry-run")

    assert "1 created, 0 updated, 0 unchanged, 1 failed. Nothing was written (--dry-run)." in shown
    assert (said, count(supplier)) == ("1 lines failed.", 0)


def test_lines_that_fail_are_told_and_the_others_written(supplier: Tenant, api: Api, tmp_path: Path) -> None:
    lines = [
        line("A1"),
        line("A1"),
        line("A3", "x"),
        [*line("A4"), "surplus", "more"],
        line("", name="No SKU"),
        line("A6"),
    ]
    lines[-1][2] = "moon-dust"
    path, errors = table(tmp_path, *lines, head=("lead_time_days",)), tmp_path / "errors.csv"

    shown, said = refused(supplier, path, f"--errors={errors}")

    assert said == "5 lines failed."
    with errors.open(newline="", encoding="utf-8") as file:
        told = [(row["line"], row["supplier_sku"], row["field"], row["code"]) for row in csv.DictReader(file)]
    assert told == [
        ("3", "A1", "supplier_sku", "duplicate"),
        ("4", "A3", "lead_time_days", "invalid"),
        ("5", "", "", "invalid"),
        ("6", "", "supplier_sku", "required"),
        ("7", "A6", "category", "unknown_category"),
    ]
    assert "line 3 (A1) supplier_sku: duplicate: Line 2 names it too." in shown
    assert listed(api)[0] == ["A1"]


def test_batches_stand_for_themselves_and_faults_are_bounded(supplier: Tenant, tmp_path: Path) -> None:
    path = table(
        tmp_path, *(line(f"S{number}", name="" if number % 6 == 0 else "Gloves") for number in range(1, 1_201))
    )

    shown, said = refused(supplier, path)

    assert (said, count(supplier)) == ("200 lines failed.", 1_000)
    assert shown.count("line ") == 50
    assert "1000 created, 0 updated, 0 unchanged, 200 failed." in shown


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("10", 10),
        ("2.5", 2.5),
        ("true", True),
        ('"10"', "10"),
        ('"', '"'),
        ("007", "007"),
        ("blue", "blue"),
        ('"a"b"', '"a"b"'),
    ],
)
def test_values_of_attributes_are_read_by_their_form(cell: str, value: Any) -> None:
    out = StringIO()
    csv.writer(out).writerows([["supplier_sku", "attributes.0.code", "attributes.0.value"], ["A1", "size", cell]])

    (line,) = lines_of(BytesIO(out.getvalue().encode()), PRODUCTS)

    assert line == (2, {"supplier_sku": "A1", "attributes": [{"code": "size", "value": value}]}, "")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The first line names no column supplier_sku."),
        (b"name,category\nx,y\n", "The first line names no column supplier_sku."),
        (b"supplier_sku,colour\nA1,red\n", "Products have no member 'colour'."),
        (b"supplier_sku,packagings\nA1,x\n", "Products have no member 'packagings'."),
        (b"supplier_sku,packagings.20.level\nA1,each\n", "Products have no member 'packagings.20.level'."),
        (b"supplier_sku,name,name\nA1,a,b\n", "Two columns have the same name."),
        (b"supplier_sku,name\nA1,\xff\xfe\n", "the file is not UTF-8."),
        (b'supplier_sku,name\nA1,"never closed\n', "Behind line 1: unexpected end of data."),
        (b"PK\x03\x04\x14\x00\x06\x00", "The first line names no column supplier_sku."),
    ],
)
def test_a_file_that_is_no_table_is_one_line(supplier: Tenant, tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "catalog.csv"
    path.write_bytes(content)

    assert refused(supplier, path)[1].endswith(said)
    assert count(supplier) == 0


def test_unknown_files_and_tenants_are_one_line(supplier: Tenant, tmp_path: Path) -> None:
    assert refused(supplier, tmp_path / "none.csv")[1].endswith("none.csv: No such file or directory")
    path = table(tmp_path, line("A1"))
    for tenant in (factories.provision("provider"), Tenant(slug="nobody")):
        assert refused(tenant, path)[1] == f"There is no open supplier {tenant.slug!r}."
