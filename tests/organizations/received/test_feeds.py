"""A reader who follows his received copies misses none, however old the instant of the owner's write is."""

import threading

from django.db import connection

from core.db import tenant_context
from tests.organizations.received.parcels import ReceivedParcel
from tests.organizations.received.sides import data, draft
from tests.races import await_waiter, race


def elsewhere(work):
    """Do something on a connection of its own, and return what it returns."""
    return race(work)[0]


def feed(side):
    return [
        one["id"] for one in data(elsewhere(lambda: side.client().get("/v1/received-parcels?sort=updated_at")))["items"]
    ]


def test_feed_of_the_reader_ends_at_the_owners_open_write(sent):
    other, statuses = draft(sent.sender, sent.carrier), []

    def weigh():
        statuses.append(sent.sender.client().post(f"{sent.own}/weigh").status_code)
        connection.close()

    writing = threading.Thread(target=weigh)
    with tenant_context(sent.carrier.id):
        ReceivedParcel.objects.select_for_update().get(pk=sent.id)
        writing.start()
        await_waiter()
        data(elsewhere(lambda: other.sender.client().post(f"{other.own}/send")))
        assert feed(sent.carrier) == [sent.id]  # as it was
        assert not statuses
    writing.join()

    assert statuses == [200]
    assert sorted(feed(sent.carrier)) == sorted([sent.id, other.id])
