"""The names of time zones are looked up once."""

from core.time_zones import time_zones


def test_names_are_those_of_the_database() -> None:
    assert {"Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"} <= time_zones()
    assert "Europe/Nowhere" not in time_zones()


def test_files_are_looked_through_once() -> None:
    time_zones()
    before = time_zones.cache_info()
    for _ in range(3):
        time_zones()
    after = time_zones.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (3, 0)
