"""Batches: each entry for itself, with an outcome of its own. Source: R4 http.html#brules.

Entries are tried together, since together they cost few trips. Where some are refused for their own sake, whatever is beside
them, the others are tried again; where that cannot be told their company is halved until one stands alone. So every entry
either is in a savepoint that held, or was refused for its own sake.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction

from api.errors import refusal_of, status_of
from core import budgets
from core.actor import Actor
from core.db import needs_transaction
from core.errors import PlatformError
from fhir_api.intentions import ReferenceNotFound, Write
from fhir_api.outcomes import outcome
from fhir_api.store.models import Method
from fhir_api.writes import perform

from . import references
from .answers import Answer, of_refusal, of_write, told_of
from .entries import Entry, identity, read_entry, write_of
from .faces import Face
from .links import Links

_TOGETHER = 100


@dataclass(frozen=True, slots=True)
class _Task:
    """A write and the entry it answers."""

    number: int
    write: Write
    name: tuple[str, str]


@needs_transaction
def run_batch(
    actor: Actor, sent: Sequence[Any], face: Face, *, at: datetime, numbers: Sequence[int] | None = None
) -> list[Answer]:
    """Carry out the entries of a batch in their order, all or those with these numbers; every one of them has an answer.

    Once the time of the request is used up, the entries that are left are answered so, and what is done stays.
    """
    wanted = range(len(sent)) if numbers is None else numbers
    batch = _Batch(actor, face, at, own=_own_urls(sent))
    for number in wanted:
        budgets.give_way()
        try:
            batch.take(read_entry(sent[number], number))
        except PlatformError as refusal:
            batch.answers[number] = of_refusal(refusal)
    batch.carry_out()
    if budgets.is_spent():
        budgets.finish()
    return [batch.answers[number] for number in wanted]


def _own_urls(sent: Sequence[Any]) -> frozenset[str]:
    """The placeholders of the batch, to which none of its entries may refer."""
    urls = (one.get("fullUrl") for one in sent if isinstance(one, dict))
    return frozenset(url for url in urls if isinstance(url, str) and url.startswith("urn:"))


class _Batch:
    def __init__(self, actor: Actor, face: Face, at: datetime, *, own: frozenset[str]) -> None:
        self.actor = actor
        self.face = face
        self.at = at
        self.own = own
        self.answers: dict[int, Answer] = {}
        self.entries: list[Entry] = []
        self.has_written = False

    def take(self, entry: Entry) -> None:
        self.entries.append(entry)

    def carry_out(self) -> None:
        waiting: list[_Task] = []
        named: set[tuple[str, str]] = set()
        for task in self._linked():
            name = ("", "") if isinstance(task, Entry) else task.name
            if isinstance(task, Entry) or len(waiting) >= _TOGETHER or (name[1] and name in named):
                self._together(waiting)
                waiting, named = [], set()
            if isinstance(task, Entry):
                self._read(task)
            else:
                waiting.append(task)
                named.add(name)
        self._together(waiting)

    def _linked(self) -> list[_Task | Entry]:
        """The tasks with their conditional references replaced; entries that only read stand between them."""
        read = [(entry, self._prepared(entry)) for entry in self.entries]
        every = [one for _, (_, links) in read for one in links.conditional]
        found = references.asked(every, actor=self.actor, at=self.at) if every else {}
        for entry, (_, links) in read:
            try:
                for one in links.conditional:
                    self.face.check_reference(one.type, one.place)
                references.resolve(links.conditional, found)
                self.face.check_referred(links.conditional)
            except PlatformError as refusal:
                self.face.tell_refused(refusal)
                self.answers[entry.number] = of_refusal(refusal)
        return [task for entry, (task, _) in read if task is not None and entry.number not in self.answers]

    def _prepared(self, entry: Entry) -> tuple[_Task | Entry | None, Links]:
        """An entry's task and the links of its resource; no task where it is refused."""
        budgets.give_way()
        links = Links({}, self.own)
        if entry.reads:
            return entry, links
        try:
            write = write_of(entry)
            task = _Task(entry.number, write, identity(write))
            self.face.check_write(write)
            links.resolve(
                write.resource if write.patch is None else write.patch.document, place=entry.place, strict=False
            )
        except PlatformError as refusal:
            self.answers[entry.number] = of_refusal(refusal)
            return None, links
        return task, links

    def _together(self, tasks: Sequence[_Task]) -> None:
        if not tasks or self._is_spent([task.number for task in tasks]):
            return
        self.has_written = True
        try:
            with transaction.atomic():
                done = perform(self.actor, [task.write for task in tasks], at=self.at)
                self.face.check_written((task.write, one) for task, one in zip(tasks, done, strict=True))
        except (PlatformError, DatabaseError) as error:
            if not self._is_spent([task.number for task in tasks]):
                self._without(tasks, error)
            return
        for task, one in zip(tasks, done, strict=True):
            self.answers[task.number] = of_write(one, self.face.wanted)

    def _without(self, tasks: Sequence[_Task], error: Exception) -> None:
        """Answer those for whose sake all were refused, and try the others again."""
        if len(tasks) == 1:
            self.face.tell_refused(error)
            self.answers[tasks[0].number] = of_refusal(error)
        elif named := _named(tasks, error):
            self.answers.update(named)
            self._together([task for task in tasks if task.number not in named])
        else:
            half = len(tasks) // 2
            self._together(tasks[:half])
            self._together(tasks[half:])

    def _is_spent(self, numbers: Sequence[int]) -> bool:
        """Answer the entries where the time of the request is used up; tell whether it is."""
        if not budgets.is_spent():
            return False
        self.answers.update(dict.fromkeys(numbers, of_refusal(budgets.refusal())))
        return True

    def _read(self, entry: Entry) -> None:
        if not self.has_written:
            budgets.give_way()
        if self._is_spent([entry.number]):
            return
        try:
            with transaction.atomic():
                self.face.check_read(entry)
                self.answers[entry.number] = self.face.read(entry)
        except (PlatformError, DatabaseError) as error:
            self.answers[entry.number] = of_refusal(error)


def _named(tasks: Sequence[_Task], error: Exception) -> dict[int, Answer]:
    """The answers to those that would be refused alone, too; not where one may refer to what another deletes."""
    if isinstance(error, ReferenceNotFound) and any(task.write.method is Method.DELETE for task in tasks):
        return {}
    status = status_of(refusal_of(error))
    return {number: Answer(status, outcome=outcome(issues)) for number, issues in told_of(error).items()}
