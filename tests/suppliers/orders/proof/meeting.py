"""Acts that meet: real threads over the real HTTP stack, and how many deadlocks PostgreSQL has ended meanwhile."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.db import connection

from tests.factories import Api
from tests.races import race


def client(api: Api) -> Api:
    """Return a further client of the same member or key, for a thread of its own."""
    made = Api()
    made.headers = api.headers
    return made


def meet(**works: Callable[[], Any]) -> dict[str, Any]:
    """Race; return the answers by their names. Nobody is told that the service failed, or that he is to try again."""
    found = dict(zip(works, race(*works.values()), strict=True))
    for name, one in found.items():
        assert not isinstance(one, Exception), (name, one)
        assert one.status_code in (200, 201, 400, 409), (name, one.status_code, one.content)
        assert told(one) != "concurrent_update", (name, one.content)
    return found


def told(answer: Any) -> str:
    """Return the code of a refusal; "" for none."""
    return "" if answer.status_code < 300 else str(answer.json()["code"])


def won(found: dict[str, Any]) -> Counter[str]:
    """Return who was not refused."""
    return Counter(name for name, one in found.items() if one.status_code < 300)


def deadlocks() -> int:
    """Return how many deadlocks PostgreSQL has ended in this database; a retry would hide one from the answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        count: int = cursor.fetchone()[0]
    return count
