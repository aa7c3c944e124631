"""The demonstration tables: marked, sound, loaded once, and never over a real release."""

from django.db import connections, transaction

from core.clock import now
from prescriptions.medications.csv_files import rows_of_file
from prescriptions.medications.demonstration import DIGEST, FOLDER, SOURCE, digest_of_files, seed_demonstration
from prescriptions.medications.ingredients import known_ingredients
from prescriptions.medications.loading import Target, load, versions
from prescriptions.medications.models import PlatformInteraction, PlatformTableVersion
from prescriptions.medications.patient_states import PATIENT_STATES
from prescriptions.medications.schedules import effective_schedule
from prescriptions.medications.tables import INTERACTIONS, TABLES


def test_digest_stands_in_the_code_so_that_changed_files_are_loaded() -> None:
    assert digest_of_files() == DIGEST


def test_every_table_is_marked_as_a_demonstration() -> None:
    found = {version.table: version for version in versions(Target())}

    assert set(found) == set(TABLES)
    assert {(version.demonstration, version.source) for version in found.values()} == {(True, SOURCE)}
    assert "not for clinical use" in SOURCE


def test_tables_name_known_ingredients_and_classes_alone() -> None:
    known = known_ingredients()
    rows = {name: rows_of_file(table, FOLDER / f"{name}.csv") for name, table in TABLES.items()}
    classes = {name for fact in known.values() for name in fact.classes}

    for row in rows["medications"]:
        facts = [known[name] for name in row["ingredients"]]
        assert set(row["classes"]) == {name for fact in facts for name in fact.classes} or row["code"] == "70618"
        assert row["schedule"] == effective_schedule(*(fact.schedule for fact in facts))
        assert not any(name.startswith("http://www.whocc.no") for name in (row["system"],))
    for row in rows["interactions"]:
        assert {row["a"], row["b"]} <= classes | set(known) | PATIENT_STATES
    assert {row["ingredient"] for row in rows["doses"]} <= set(known)
    for row in rows["allergy_map"]:
        assert row["value"] in (classes if row["kind"] == "class" else known)


def test_seeding_again_changes_nothing_and_spares_a_real_release() -> None:
    with transaction.atomic(using="owner"):
        seed_demonstration("owner")
        assert PlatformTableVersion.objects.using("owner").count() == len(TABLES)

        real = Target(using="owner")
        load(
            INTERACTIONS,
            [{"a": "x", "b": "y", "severity": "low", "text": "", "source": ""}],
            real,
            source="real",
            at=now(),
        )
        seed_demonstration("owner")
        assert [row.a for row in PlatformInteraction.objects.using("owner").all()] == ["x"]
        transaction.set_rollback(True, using="owner")
    connections["owner"].close()
