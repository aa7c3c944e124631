"""import_clinical_tables: all or nothing, every fault with its line, differences without writing, versions."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from core.db import tenant_context
from organizations.models import Tenant
from prescriptions.medications.csv_files import UnusableTable, rows_of
from prescriptions.medications.loading import Difference, Target, versions
from prescriptions.medications.models import (
    IncomingRow,
    TenantDose,
    TenantInteraction,
    TenantMedication,
    TenantMedicationWord,
)
from prescriptions.medications.tables import TABLES
from tests.factories import provision
from tests.prescriptions.medications.files import csv_of, load_rows, medication


def run(tenant: Tenant, *arguments: str) -> str:
    """Run the command and return what it wrote."""
    out = io.StringIO()
    call_command("import_clinical_tables", f"--tenant={tenant.slug}", *arguments, stdout=out)
    return out.getvalue()


def file(folder: Path, table: str, *rows: dict[str, Any]) -> Path:
    path = folder / f"{table}.csv"
    path.write_text(csv_of(table, *rows), encoding="utf-8-sig")
    return path


def codes(tenant: Tenant) -> list[str]:
    with tenant_context(tenant.id):
        return sorted(TenantMedication.objects.filter(tenant_id=tenant.id).values_list("code", flat=True))


def test_files_become_the_tables_of_the_tenant(hospital: Tenant, tmp_path: Path) -> None:
    medications = file(tmp_path, "medications", medication(code="1", ingredients=" Warfarin ; warfarin;X  y"))
    doses = file(tmp_path, "doses", {"ingredient": "x y", "single_max": "4.50", "unit": "mg", "per_kg": "true"})

    told = run(hospital, f"--medications={medications}", f"--doses={doses}")

    assert told == (
        "medications, version 1, 1 rows: 1 added, 0 changed, 0 removed.\n"
        "doses, version 1, 1 rows: 1 added, 0 changed, 0 removed.\n"
    )
    with tenant_context(hospital.id):
        row = TenantMedication.objects.get(tenant_id=hospital.id)
        assert (row.ingredients, row.schedule, row.version) == (["warfarin", "x y"], "none", 1)
        dose = TenantDose.objects.get(tenant_id=hospital.id)
        assert (str(dose.single_max), dose.per_kg, dose.route) == ("4.500000", True, "")
        found = {version.table: version for version in versions(Target(hospital.id))}
        assert set(found) == {"medications", "doses"}
        assert (found["doses"].source, found["doses"].rows, len(found["doses"].digest)) == ("doses.csv", 1, 64)
    assert not IncomingRow.objects.exists()


def test_dry_run_tells_the_differences_and_writes_nothing(hospital: Tenant, tmp_path: Path) -> None:
    load_rows(hospital, "medications", medication(code="1"), medication(code="2"), medication(code="3"))
    changed = file(
        tmp_path,
        "medications",
        medication(code="1"),
        medication(code="2", form="capsule", unit="g"),
        medication(code="4"),
    )

    told = run(hospital, f"--medications={changed}", "--dry-run")

    assert told.splitlines() == [
        "medications, 3 rows: 1 added, 1 changed, 1 removed; nothing was written.",
        "+ http://www.nlm.nih.gov/research/umls/rxnorm 4",
        "~ http://www.nlm.nih.gov/research/umls/rxnorm 2 (form, unit)",
        "- http://www.nlm.nih.gov/research/umls/rxnorm 3",
    ]
    assert codes(hospital) == ["1", "2", "3"]
    assert not IncomingRow.objects.exists()
    with tenant_context(hospital.id):
        assert [version.number for version in versions(Target(hospital.id))] == [1]


def test_load_changes_only_what_differs(hospital: Tenant) -> None:
    first = load_rows(hospital, "medications", medication(code="1"), medication(code="2"), medication(code="3"))
    second = load_rows(
        hospital, "medications", medication(code="2", display="Other name"), medication(code="1"), medication(code="4")
    )
    again = load_rows(
        hospital, "medications", medication(code="1"), medication(code="4"), medication(code="2", display="Other name")
    )

    assert (first.version, first.is_new, second.version, second.is_new) == (1, True, 2, True)
    assert (second.added, second.changed, second.removed) == (1, 1, 1)
    assert (again.version, again.is_new, again.digest) == (2, False, second.digest)
    with tenant_context(hospital.id):
        rows = TenantMedication.objects.filter(tenant_id=hospital.id)
        assert dict(rows.values_list("code", "version")) == {"1": 1, "2": 2, "4": 2}
        words = TenantMedicationWord.objects.filter(tenant_id=hospital.id)
        by_code = {row.code: set(words.filter(medication_id=row.id).values_list("word", flat=True)) for row in rows}
        assert by_code["2"] == {"2", "other", "name", "#anticoagulants"}
        assert by_code["1"] == {"1", "warfarin", "sodium", "5", "mg", "oral", "tablet", "#anticoagulants"}
        assert words.values("medication_id").distinct().count() == 3


def test_bands_of_doses_without_bounds_are_compared(hospital: Tenant) -> None:
    dose = {"ingredient": "x", "single_max": "1", "unit": "mg"}
    load_rows(hospital, "doses", dose, dose | {"age_to": "12"}, dose | {"per_kg": "1"})

    found = load_rows(
        hospital, "doses", dose | {"single_max": "1.0"}, dose | {"age_to": "12", "unit": "g"}, dry_run=True
    )

    assert found.differences == (
        Difference("changed", "x - - 12 - - -", ("unit",)),
        Difference("removed", "x - - - - - per_kg"),
    )


def test_fault_of_one_file_keeps_all_from_being_loaded(hospital: Tenant, tmp_path: Path) -> None:
    good = file(tmp_path, "medications", medication())
    bad = file(tmp_path, "interactions", {"a": "x", "b": "y", "severity": "awful"}, {"a": "x", "severity": "low"})

    with pytest.raises(CommandError) as caught:
        run(hospital, f"--medications={good}", f"--interactions={bad}")

    assert str(caught.value).splitlines() == [
        f"{bad}: 2 faults; nothing was loaded.",
        "line 2, severity: 'awful' is not among contraindicated, high, moderate, low.",
        "line 3, b: A value is required.",
    ]
    assert codes(hospital) == []


@pytest.mark.parametrize(
    ("table", "text", "faults"),
    [
        ("doses", "ingredient,route\n", [("line 1", "columns")]),
        ("doses", "", [("line 1", "columns")]),
        ("interactions", "a,b,severity,text,source\nx,y,low\n", [("line 2", "columns")]),
        (
            "interactions",
            "b,a,source,text,severity\nwarfarin,IBUPROFEN,,,low\n\nibuprofen,Warfarin,,,high\n",
            [("line 4", "duplicate")],
        ),
        ("interactions", 'a,b,severity,text,source\nx,y,low,"open,\n', [("line 2", "invalid")]),
        ("interactions", "a,b,severity,text,source\nx,y,low,nul\0,\n", [("line 2, text", "invalid")]),
        (
            "doses",
            """ingredient,route,age_from,age_to,weight_from,weight_to,single_max,daily_max,unit,per_kg
x,,12,12,,,1,,mg,
x,,,,,,,,mg,
x,,-1,,,,0,1e99,,maybe
x,,1.2345,,,,NaN,abc,mg,
""",
            [
                ("line 2", "invalid"),
                ("line 3", "invalid"),
                ("line 4, age_from", "invalid"),
                ("line 4, single_max", "invalid"),
                ("line 4, daily_max", "invalid"),
                ("line 4, unit", "invalid"),
                ("line 4, per_kg", "invalid"),
                ("line 5, age_from", "invalid"),
                ("line 5, single_max", "invalid"),
                ("line 5, daily_max", "invalid"),
            ],
        ),
        (
            "medications",
            f"""system,code,display,ingredients,classes,form,strength,unit,schedule
,{"9" * 101},,{";".join(map(str, range(40)))},{"c" * 201},,,,VI
""",
            [
                ("line 2, system", "invalid"),
                ("line 2, code", "invalid"),
                ("line 2, display", "invalid"),
                ("line 2, ingredients", "invalid"),
                ("line 2, classes", "invalid"),
                ("line 2, schedule", "invalid"),
            ],
        ),
        ("allergy_map", "system,code,display,kind,value\nsnomed,1,,drug,\n", [("line 2, kind", "invalid"), ("line 2, value", "invalid")]),
    ],
)  # fmt: skip
def test_every_fault_is_named_with_its_line(table: str, text: str, faults: list[tuple[str, str]]) -> None:
    with pytest.raises(UnusableTable) as caught:
        rows_of(TABLES[table], io.StringIO(text, newline=""))

    assert [(fault.field, fault.code) for fault in caught.value.errors] == faults


def test_hundred_faults_are_enough() -> None:
    text = csv_of("interactions", *({"a": "x", "b": str(n), "severity": "?"} for n in range(300)))

    with pytest.raises(UnusableTable) as caught:
        rows_of(TABLES["interactions"], io.StringIO(text))

    assert len(caught.value.errors) == 100
    assert "The first 100 faults are named." in caught.value.detail


def test_command_refuses_what_it_cannot_read(hospital: Tenant, tmp_path: Path) -> None:
    latin = tmp_path / "latin.csv"
    latin.write_bytes("a,b,severity,text,source\nx,y,low,Häufig,\n".encode("latin-1"))
    for arguments, told in (
        ((f"--interactions={tmp_path / 'none.csv'}",), "cannot be read: No such file"),
        ((f"--interactions={latin}",), "is not UTF-8"),
        ((f"--interactions={tmp_path}",), "cannot be read"),
        ((), "Name a file"),
    ):
        with pytest.raises(CommandError, match=told):
            run(hospital, *arguments)
    with pytest.raises(CommandError, match="There is no tenant 'nobody'"):
        call_command("import_clinical_tables", "--tenant=nobody")


def test_tables_of_one_tenant_are_not_those_of_another(hospital: Tenant) -> None:
    other = provision("provider")
    load_rows(hospital, "interactions", {"a": "x", "b": "y", "severity": "low"})
    load_rows(other, "interactions", {"a": "x", "b": "y", "severity": "high"})
    load_rows(hospital, "interactions")

    with tenant_context(other.id):
        assert TenantInteraction.objects.get(tenant_id=other.id).severity == "high"
    with tenant_context(hospital.id):
        assert not TenantInteraction.objects.filter(tenant_id=hospital.id).exists()
