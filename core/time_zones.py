"""The time zones that there are. Source: IANA time zone database."""

from functools import cache
from zoneinfo import available_timezones


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones; looking through the files of the database takes 10 ms, so it is done once.

    Systems keep two files beside them that name no place: the zone of the machine, and the one of a machine that has none yet.
    """
    return frozenset(available_timezones()) - {"localtime", "Factory"}
