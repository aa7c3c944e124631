"""Rounds: the jobs of many tenants are carried on in turn, so that no tenant's jobs stand in front of all others'.

In a round each tenant with open jobs has one batch of one job. Whoever was served last stands last in the next round, so
a round that ended early goes on with the others.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar
from uuid import UUID

from . import jobs

Job = TypeVar("Job")
GoOn = Callable[[], bool]

SLICE_SECONDS: Final = 4.0  # how long a task may work: less than the five after which beat sends it again

_TRIES = 8  # jobs of one tenant that are looked at in a round, until one moves


def ever() -> bool:
    """Go on until all is done."""
    return True


def until(seconds: float) -> GoOn:
    """Return what tells a task that works for long whether to go on: for so many seconds, while its worker does not end."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end and not jobs.is_ending()


class Rounds:
    """The rounds of one kind of job in this process."""

    def __init__(self) -> None:
        self._last = UUID(int=0)
        self._turns = Counter[UUID]()  # how often each tenant was served

    def serve(self, waiting: Iterable[tuple[UUID, Job]], advance: Callable[[UUID, Job], bool], *, go_on: GoOn) -> int:
        """Carry one job of each tenant a batch further, as long as `go_on` says so; return how many moved.

        :param waiting: tenant and job of all that is open; of a tenant with several jobs each turn of it begins with another.
        :param advance: does one batch; whether the job moved. One that somebody else is busy with does not.
        """
        jobs_of = defaultdict[UUID, list[Job]](list)
        for tenant_id, job in waiting:
            jobs_of[tenant_id].append(job)
        moved = 0
        for tenant_id in sorted(jobs_of, key=lambda one: (one <= self._last, one)):
            if not go_on():
                break
            self._last = tenant_id
            mine = jobs_of[tenant_id]
            first = self._turns[tenant_id] % len(mine)
            self._turns[tenant_id] += 1
            moved += any(advance(tenant_id, job) for job in (*mine[first:], *mine[:first])[:_TRIES])
        return moved

    def drain(self, waiting: Mapping[UUID, Job], step: Callable[[UUID, Job], Job | None], *, go_on: GoOn) -> None:
        """Do all work of the tenants, a batch of each in turn, as long as `go_on` says so.

        :param waiting: where each tenant's work begins.
        :param step: does one batch; where the tenant's next one begins, None if there is none.
        """
        rest = dict(waiting)

        def advance(tenant_id: UUID, place: Job) -> bool:
            following = step(tenant_id, place)
            if following is None:
                del rest[tenant_id]
            else:
                rest[tenant_id] = following
            return True

        while rest and go_on():
            self.serve(list(rest.items()), advance, go_on=go_on)
