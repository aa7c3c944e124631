"""load_terminology rxnorm: the files of a small release, and what becomes of it; the platform's table is put back."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections, transaction

from prescriptions.medications import rxnorm
from prescriptions.medications.csv_files import UnusableTable
from prescriptions.medications.loading import Target, current_version, load
from prescriptions.medications.tables import MEDICATIONS

CONCEPTS = [
    ("161", "IN", "acetaminophen"),
    ("7804", "IN", "oxycodone"),
    ("82063", "PIN", "oxycodone hydrochloride"),
    ("42844", "BN", "Percocet"),
    ("315266", "SCDC", "acetaminophen 325 MG"),
    ("1049220", "SCDC", "oxycodone hydrochloride 5 MG"),
    ("317541", "DF", "Oral Tablet"),
    ("1049221", "SCD", "acetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet"),
    ("1049640", "SBD", "acetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet [Percocet]"),
    ("9", "SCDC", "mystery 1,000 QS"),
]
# "RXCUI2 has the relation to RXCUI1": the part, what the whole does to it, the whole.
RELATIONS = [
    ("161", "has_ingredient", "315266"),
    ("82063", "has_precise_ingredient", "1049220"),
    ("7804", "form_of", "82063"),
    ("7804", "has_ingredient", "1049220"),
    ("315266", "consists_of", "1049221"),
    ("1049220", "consists_of", "1049221"),
    ("317541", "has_dose_form", "1049221"),
    ("1049221", "tradename_of", "1049640"),
    ("42844", "has_ingredient", "1049640"),
    ("161", "tradename_of", "42844"),
    ("7804", "tradename_of", "42844"),
    ("1049640", "has_tradename", "1049221"),
]


def concept(
    code: str, kind: str, name: str, *, source: str = "RXNORM", language: str = "ENG", suppress: str = "N"
) -> str:
    cells = [code, language, *[""] * 9, source, kind, code, name, "", suppress, "4096"]
    return "|".join(cells) + "|\n"


def relation(part: str, name: str, whole: str, *, source: str = "RXNORM") -> str:
    cells = [part, "", "CUI", "RO", whole, "", "CUI", name, "", "", source, source, "", "", "", ""]
    return "|".join(cells) + "|\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Return the folder of a small release, with lines that are left out."""
    left_out = [
        concept("161", "SY", "paracetamol"),
        concept("1", "SCD", "Old drug", suppress="O"),
        concept("2", "SCD", "Droga", language="SPA"),
        concept("3", "CD", "Of another source", source="GS"),
    ]
    (tmp_path / "RXNCONSO.RRF").write_text("".join([*left_out, *(concept(*one) for one in CONCEPTS)]))
    foreign = [relation("161", "has_ingredient", "9", source="GS"), relation("161", "consists_of", "404")]
    (tmp_path / "RXNREL.RRF").write_text("".join([*foreign, *(relation(*one) for one in RELATIONS)]))
    return tmp_path


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["code"]: row for row in rxnorm.medications(folder)}


def test_release_tells_ingredients_strength_and_form(release: Path) -> None:
    found = rows(release)

    assert set(found) == {"161", "7804", "82063", "42844", "315266", "1049220", "1049221", "1049640", "9"}
    assert found["1049640"] == {
        "system": "http://www.nlm.nih.gov/research/umls/rxnorm",
        "code": "1049640",
        "display": "acetaminophen 325 MG / oxycodone hydrochloride 5 MG Oral Tablet [Percocet]",
        "ingredients": ["acetaminophen", "oxycodone"],
        "classes": ["analgesics", "opioids"],
        "form": "oral tablet",
        "strength": "325/5",
        "unit": "mg",
        "schedule": "II",
    }
    assert found["161"]["ingredients"] == ["acetaminophen"]
    assert found["42844"]["ingredients"] == ["acetaminophen", "oxycodone"]
    assert (found["42844"]["strength"], found["42844"]["form"]) == ("", "")
    assert (found["9"]["ingredients"], found["9"]["strength"], found["9"]["schedule"]) == ([], "", "none")


def test_release_without_relations_has_names_alone(release: Path) -> None:
    (release / "RXNREL.RRF").unlink()

    assert rows(release)["1049221"]["ingredients"] == []


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("RXNCONSO.RRF", b"1|ENG|short|\n", "RXNCONSO.RRF, line 1: 3 columns instead of 18"),
        ("RXNCONSO.RRF", concept("317541", "DF", "Oral Tablet").encode(), "holds no drug"),
        ("RXNCONSO.RRF", b"\xff|\n", "is not UTF-8"),
        ("RXNCONSO.RRF", b"", "holds no drug"),
        ("RXNREL.RRF", b"1|2|\n", "RXNREL.RRF, line 1: 2 columns instead of 16"),
    ],
)
def test_faulty_release_is_refused_and_changes_nothing(release: Path, name: str, content: bytes, told: str) -> None:
    (release / name).write_bytes(content)
    before = current_version(MEDICATIONS, Target())

    with pytest.raises(CommandError, match=told):
        call_command("load_terminology", "rxnorm", str(release))

    assert current_version(MEDICATIONS, Target()) == before
    with pytest.raises(UnusableTable, match="cannot be read"):
        rows(release / "nowhere")


def test_dry_run_tells_the_differences_to_the_demonstration(release: Path) -> None:
    out = io.StringIO()

    call_command("load_terminology", "rxnorm", str(release), "--dry-run", stdout=out)

    first, *others = out.getvalue().splitlines()
    assert first == "medications, 9 rows: 8 added, 1 changed, 130 removed; nothing was written."
    assert "~ http://www.nlm.nih.gov/research/umls/rxnorm 1049221 (display)" in others
    assert current_version(MEDICATIONS, Target()).demonstration


@pytest.fixture
def taken_back() -> Iterator[None]:
    """Take back what a test loads into the platform's table: other tests read the demonstration."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.usefixtures("taken_back")
def test_release_takes_the_place_of_the_demonstration(release: Path) -> None:
    out = io.StringIO()

    call_command("load_terminology", "rxnorm", str(release), stdout=out)

    assert out.getvalue() == "medications, version 2, 9 rows: 8 added, 1 changed, 130 removed.\n"
    current = current_version(MEDICATIONS, Target())
    assert (current.number, current.demonstration, current.source) == (2, False, f"RxNorm, {release.name}")
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT code, demonstration, version FROM prescriptions_platformmedication ORDER BY code LIMIT 2"
        )
        assert cursor.fetchall() == [("1049220", False, 2), ("1049221", False, 2)]
        cursor.execute(
            "SELECT count(*) FROM prescriptions_platformmedicationword w WHERE NOT EXISTS"
            " (SELECT 1 FROM prescriptions_platformmedication m WHERE m.id = w.medication_id)"
        )
        assert cursor.fetchone() == (0,)


@pytest.mark.usefixtures("taken_back")
def test_rows_that_a_release_leaves_alike_are_no_demonstration_any_more() -> None:
    from core.clock import now
    from prescriptions.medications.csv_files import rows_of_file
    from prescriptions.medications.demonstration import FOLDER

    same = rows_of_file(MEDICATIONS, FOLDER / "medications.csv")
    found = load(MEDICATIONS, same, Target(), source="a release", at=now())

    assert (found.is_new, found.added, found.changed, found.removed) == (True, 0, 0, 0)
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT DISTINCT demonstration, version FROM prescriptions_platformmedication")
        assert cursor.fetchall() == [(False, 2)]
