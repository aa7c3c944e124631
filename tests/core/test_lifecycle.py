"""Rows with a lifecycle: the traps of the library are closed, and the database knows the transitions."""

import threading

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models
from django_fsm import FSMField, TransitionNotAllowed

from core.errors import Conflict, InvalidTransition
from core.lifecycle import LifecycleModel, allowed_actions, refusing, transition
from organizations.models import Organization
from organizations.refusals import OrganizationInUse
from tests import factories


class Sealed(Conflict):
    """The parcel was sealed."""

    code = "sealed"


class Parcel(LifecycleModel):
    """A row of the tests' own, never saved. Personal data: none."""

    status = FSMField(default="packed", protected=True)
    weighed = models.BooleanField(default=False)
    seals = models.IntegerField(default=0)

    class Meta:
        app_label = "tests_of_lifecycles"
        managed = False

    @transition(field=status, source="packed", target="opened")
    def open(self):
        """Open it."""

    @transition(
        field=status,
        source="packed",
        target="sent",
        conditions=[
            lambda parcel: parcel.weighed,
            refusing(Sealed, lambda parcel: parcel.seals == 0, seals=lambda parcel: parcel.seals),
        ],
    )
    def send(self):
        """Send it."""


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


def test_row_with_a_protected_state_can_be_validated():
    row = factories.organization()
    row.name = ""

    with pytest.raises(ValidationError) as caught:
        row.full_clean()

    assert set(caught.value.error_dict) == {"name"}
    assert row.status == "active"


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
        row.resume()

    assert caught.value.extra == {"from": "active", "action": "resume", "allowed": ["close", "suspend"]}
    assert allowed_actions(row) == ["close", "suspend"]


def test_condition_that_fails_refuses_like_a_state():
    parcel = Parcel(seals=1)

    with pytest.raises(InvalidTransition) as caught:
        parcel.send()

    assert caught.value.extra == {"from": "packed", "action": "send", "allowed": ["open"]}
    assert parcel.status == "packed"


def test_condition_with_a_refusal_of_its_own_answers_with_it():
    parcel = Parcel(weighed=True, seals=2)

    with pytest.raises(Sealed) as caught:
        parcel.send()

    assert caught.value.extra == {"seals": 2}
    assert parcel.status == "packed"


def test_conditions_that_hold_let_the_transition_happen():
    parcel = Parcel(weighed=True)

    parcel.send()

    assert parcel.status == "sent"


def test_state_is_asked_before_the_conditions():
    parcel = Parcel(weighed=True, seals=2)
    parcel.open()

    with pytest.raises(InvalidTransition) as caught:
        parcel.send()

    assert caught.value.extra == {"from": "opened", "action": "send", "allowed": []}


def test_organization_with_an_open_one_below_stays_open():
    row = factories.organization()
    Organization.objects.create(name="Below", slug=f"below-{factories.suffix()}", parent=row)

    with pytest.raises(OrganizationInUse):
        row.close()

    assert row.status == "active"


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
