"""A database that takes no record of access, as one whose disk is full."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections


@contextmanager
def no_access_records() -> Iterator[None]:
    """Let every record of a read fail inside the block; this worker's database is its own."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION no_access_records() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = 'disk_full'; END $$;"
            "CREATE TRIGGER no_access_records BEFORE INSERT ON fhir_api_accessrecord "
            "FOR EACH ROW EXECUTE FUNCTION no_access_records()"
        )
        try:
            yield
        finally:
            cursor.execute("DROP FUNCTION no_access_records CASCADE")
