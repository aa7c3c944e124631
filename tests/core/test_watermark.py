"""Where a feed ends: at the oldest open write of its tenant, by the service's clock and by the database's."""

import threading
import time
from contextlib import contextmanager
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from core import clock, watermark
from core.db import tenant_context
from tests import factories

SETTLED = f"SELECT {watermark.SETTLED}, now()"
KEY = f"SELECT {watermark._tenant_sql('%s::uuid')} | {watermark._time_sql('%s::timestamptz')}"


@contextmanager
def open_write(mark):
    """A transaction on another connection that has made its mark and stays open as long as the `with` lasts."""
    marked, over = threading.Event(), threading.Event()

    def write():
        with transaction.atomic():
            mark()
            marked.set()
            over.wait(10)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    assert marked.wait(10)
    try:
        yield
    finally:
        over.set()
        thread.join()


def by_the_database(tenant_id: UUID):
    def mark():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT FROM {watermark.MARK.format(tenant='%s::uuid')} writing", [tenant_id])

    return mark


def by_the_service(tenant_id: UUID):
    return lambda: watermark.begin(tenant_id)


def end_of_list(tenant_id: UUID):
    with tenant_context(tenant_id), connection.cursor() as cursor:
        cursor.execute(SETTLED)
        return cursor.fetchone()


@pytest.mark.parametrize("way", [by_the_database, by_the_service])
def test_feed_ends_at_the_open_write_of_its_tenant_alone(way):
    mine, other = factories.provision(), factories.provision()

    with open_write(way(mine.id)):
        begun = clock.now()
        time.sleep(2.2)
        settled, (listed, _) = watermark.settled(mine.id), end_of_list(mine.id)
        others, (others_listed, at) = watermark.settled(other.id), end_of_list(other.id)

    assert settled <= begun
    assert listed <= begun
    assert others > begun
    assert (at - others_listed).total_seconds() == 2
    assert watermark.settled(mine.id) > begun


def test_both_clocks_make_the_same_key():
    for _ in range(50):
        tenant_id, at = uuid4(), clock.now()
        with connection.cursor() as cursor:
            cursor.execute(KEY, [tenant_id, at])
            assert cursor.fetchone() == (watermark._key(tenant_id, at),)


def test_without_a_bound_tenant_a_list_leaves_out_the_last_seconds_alone():
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SETTLED)
        listed, at = cursor.fetchone()

    assert (at - listed).total_seconds() == 2
