"""Rows with a lifecycle: the traps of the library are closed, and the database knows the transitions."""

import threading

import pytest
from django.db import IntegrityError
from django_fsm import TransitionNotAllowed

from core.errors import InvalidTransition
from core.lifecycle import allowed_actions, move
from organizations.models import Organization
from tests import factories


def test_state_assigned_directly_is_refused():
    row = factories.organization()

    with pytest.raises(AttributeError):
        row.status = "closed"

    assert row.status == "active"


def test_row_built_in_a_later_state_is_refused():
    row = Organization(name="Late", slug=f"late-{factories.suffix()}", status="closed")

    with pytest.raises(TransitionNotAllowed):
        row.save()

    assert not Organization.objects.filter(slug=row.slug).exists()


def test_row_moved_before_its_first_save_is_kept():
    row = Organization(name="Moved", slug=f"moved-{factories.suffix()}")
    row.suspend()
    row.save()

    assert Organization.objects.get(pk=row.pk).status == "suspended"


def test_refresh_reads_the_new_state_and_stays_protected():
    row = factories.organization()
    other = Organization.objects.get(pk=row.pk)
    other.suspend()
    other.save(update_fields=["status"])

    row.refresh_from_db()

    assert row.status == "suspended"
    with pytest.raises(AttributeError):
        row.status = "active"


def test_refresh_in_many_threads_never_opens_the_protection():
    row = factories.organization()
    stop, faults = threading.Event(), []

    def refresh():
        from django.db import connection

        mine = Organization.objects.get(pk=row.pk)
        while not stop.is_set():
            try:
                mine.refresh_from_db()
            except AttributeError as error:
                faults.append(error)
        connection.close()

    threads = [threading.Thread(target=refresh) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        with pytest.raises(AttributeError):
            row.status = "closed"
    stop.set()
    for thread in threads:
        thread.join()

    assert faults == []


def test_transition_that_is_not_allowed_names_state_and_ways_out():
    row = factories.organization()

    with pytest.raises(InvalidTransition) as caught:
        move(row, "resume")

    assert caught.value.extra == {"from": "active", "action": "resume", "allowed": ["close", "suspend"]}
    assert allowed_actions(row) == ["close", "suspend"]


def test_raw_update_past_the_transitions_is_refused_by_the_database():
    row = factories.organization()
    row.close()
    row.save(update_fields=["status"])

    with pytest.raises(IntegrityError):
        Organization.objects.filter(pk=row.pk).update(status="active")

    assert Organization.objects.get(pk=row.pk).status == "closed"


def test_stale_copy_cannot_repeat_a_transition():
    row = factories.organization()
    first, second = Organization.objects.get(pk=row.pk), Organization.objects.get(pk=row.pk)
    first.suspend()
    first.save(update_fields=["status"])
    second.close()

    with pytest.raises(Exception, match="state has been changed"):
        second.save(update_fields=["status"])

    assert Organization.objects.get(pk=row.pk).status == "suspended"
