"""Identifiers are UUIDv7 and stand in the order they were made, so that two facts of one change do too."""

import time

from core.ids import parse_uuid, uuid7


def test_ids_made_one_after_the_other_are_in_order():
    made = [uuid7() for _ in range(5_000)]
    assert made == sorted(made)
    assert len(set(made)) == 5_000


def test_id_is_of_version_seven_and_bears_the_time():
    before = time.time_ns() // 1_000_000
    made = uuid7()
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000


def test_only_the_canonical_form_is_read():
    made = uuid7()
    assert parse_uuid(str(made)) == made
    assert parse_uuid(made.hex) is None
    assert parse_uuid("z" * 36) is None
