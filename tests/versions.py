"""Every UPDATE under test is held to the versions: what changes a row that callers know makes its next version.

A trigger of the test database warns of an UPDATE that changes a row and leaves its version; the warning comes while the
statement runs, so the line that sent it is on the stack. A test that arranges rows by its own UPDATE may do so.
"""

import sys
import traceback
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
_PREFIX = "no new version: "
_PASSED_OVER = tuple(str(ROOT / name) for name in ("core", ".venv"))
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION hp_test_versions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed text[];
BEGIN
  SELECT array_agg(n.key ORDER BY n.key) INTO changed FROM jsonb_each(to_jsonb(NEW)) n
  WHERE n.value IS DISTINCT FROM to_jsonb(OLD) -> n.key AND n.key <> ALL (TG_ARGV);
  IF changed IS NOT NULL THEN
    RAISE WARNING '{_PREFIX}% of %', array_to_string(changed, ', '), TG_TABLE_NAME USING DETAIL = current_query();
  END IF;
  RETURN NULL;
END $$
"""

offences: list[str] = []


def install(owner_url: str) -> None:
    """Put the trigger on every table with versions, in the database of this test run."""
    from django.apps import apps

    from core.versioned import Versioned

    with psycopg.connect(owner_url) as connection:
        connection.execute(_FUNCTION)
        for model in apps.get_models():
            if issubclass(model, Versioned) and model._meta.managed:
                columns = [model._meta.get_field(name).column for name in model.unversioned]
                left = ", ".join(f"'{name}'" for name in ["version", "updated_at", *columns])
                connection.execute(
                    f'CREATE TRIGGER hp_test_versions AFTER UPDATE ON "{model._meta.db_table}" FOR EACH ROW'
                    f" WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION hp_test_versions({left})"
                )


def listen() -> None:
    """Note the warnings of every connection that Django opens from now on."""
    from django.db.backends.signals import connection_created

    connection_created.connect(_hear, weak=False, dispatch_uid="tests.versions")


def _hear(*, connection: Any, **_: Any) -> None:
    opened = connection.connection
    if _note not in opened._notice_handlers:  # the pool lends the same connection again
        opened.add_notice_handler(_note)


def _note(diagnostic: Any) -> None:
    message = diagnostic.message_primary or ""
    line = _line_of_the_product() if message.startswith(_PREFIX) else ""
    if line and not _is_first_step(diagnostic.message_detail or ""):
        offences.append(f"{line}: {message}")


def _is_first_step(query: str) -> bool:
    """Tell whether this is the one statement for the first of two transitions of a request; the second raises the version."""
    from prescriptions.lifecycle.steps import VALIDATED

    return query == VALIDATED.sql.decode()


def _line_of_the_product() -> str:
    """The line that changed the row; empty where it is a test's own."""
    for frame, number in traceback.walk_stack(sys._getframe(2)):
        file = frame.f_code.co_filename
        if file.startswith(str(ROOT)) and not file.startswith(_PASSED_OVER):
            place = str(Path(file).relative_to(ROOT))
            return "" if place.startswith("tests/") else f"{place}:{number}"
    return ""
