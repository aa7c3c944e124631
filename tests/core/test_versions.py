"""Versions of rows: an action cannot forget the next one, nor write what callers may not."""

import pytest
from django.apps import apps
from django.db import connection

from core.clock import now
from core.versioned import Versioned
from organizations.models import Organization
from organizations.public import ReceivedDocument
from tests import factories, versions


def test_save_version_raises_the_version_and_the_time():
    row, at = factories.organization(), now()

    row.name = "Renamed"
    row.save_version("name", at=at)

    found = Organization.objects.get(pk=row.pk)
    assert (found.name, found.version, found.updated_at) == ("Renamed", 2, at)


def test_assign_tells_what_differed():
    row = Organization(name="Old", type="group")

    assert row.assign({"name": "New", "type": "group"}) == ["name"]
    assert row.name == "New"


def test_assign_of_what_callers_may_not_write_is_refused():
    row = Organization(name="Old")

    with pytest.raises(ValueError, match="not writable in Organization: parent_id"):
        row.assign({"name": "New", "parent_id": None})

    assert row.name == "Old"


def test_every_table_with_a_version_of_its_rows_is_versioned():
    # The version of a received copy is that of its owner's row.
    models = [model for model in apps.get_models() if not issubclass(model, ReceivedDocument)]
    columns = {model: {field.name for field in model._meta.fields} for model in models}

    assert [model for model, names in columns.items() if {"version", "updated_at"} <= names] == [
        model for model in columns if issubclass(model, Versioned)
    ]


def test_every_table_with_a_version_is_watched():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'hp_test_versions' AND tgparentid = 0"
        )
        watched = {table for (table,) in cursor.fetchall()}

    assert watched == {model._meta.db_table for model in apps.get_models() if issubclass(model, Versioned)}


def test_update_that_forgets_the_version_is_noted(monkeypatch):
    row = factories.organization()
    monkeypatch.setattr(versions, "_line_of_the_product", lambda: "somewhere.py:1")

    Organization.objects.filter(pk=row.pk).update(name="Other")
    Organization.objects.filter(pk=row.pk).update(name="Third", version=2)

    assert versions.offences == ["somewhere.py:1: no new version: name of organizations_organization"]
    versions.offences.clear()


def test_columns_and_models_name_what_is_there():
    for model in apps.get_models():
        if issubclass(model, Versioned):
            names = {field.attname for field in model._meta.fields} | {field.name for field in model._meta.fields}
            assert set(model.WRITABLE) <= names
            assert set(model.unversioned) <= names
