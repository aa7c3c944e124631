"""Imports that merge lines into a list: batches through the action of its PUT or PATCH, each in a transaction of its own."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from django.db import transaction

from api.serializers import read
from core.db import tenant_context
from core.errors import InvalidFields, PlatformError

from .csv_files import Line
from .file_imports import Fault, FileImport, faults_of

Found = TypeVar("Found")
Sent = tuple[Line, Mapping[str, Any]]

BATCH: Final = 1_000
_TWICE: Final = "Another line names the same."


@dataclass
class MergeImport(FileImport, Generic[Found]):
    """Base of such an import; with `is_dry` every batch is judged and rolled back.

    `member` names the lines in the body. A subclass reads a line, finds what lines name and writes those that are sound.
    """

    statuses = ("created", "updated", "removed", "unchanged", "failed")
    member = "lines"

    tenant_id: UUID
    is_dry: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _seen: set[Hashable] = field(default_factory=set)  # what the batches before have named

    def take(self, lines: Iterable[Line]) -> Iterator[list[Fault]]:
        """Write the lines batch by batch; after each yield the faults of its lines, in their order."""
        rest = iter(lines)
        while batch := list(islice(rest, BATCH)):
            sent: list[Sent] = []
            faults: list[Fault] = []
            for line in batch:
                try:
                    sent.append((line, self._read(line)))
                except PlatformError as error:
                    faults += [
                        _fault(line, one.field, one.code if one.field else "invalid", one.message)
                        for one in faults_of(error)
                    ]
            with tenant_context(self.tenant_id), transaction.atomic():
                faults += self.write(sent)
                if self.is_dry:
                    transaction.set_rollback(True)
            self.counts["failed"] += len({fault.line for fault in faults})
            yield sorted(faults)

    @abstractmethod
    def write(self, sent: Sequence[Sent]) -> list[Fault]:
        """Write the sound ones of these lines and count what became of them; return what is wrong with the others."""

    def _read(self, line: Line) -> Mapping[str, Any]:
        """Return the checked body of a line; the first of its tiers begins at one pack unless it says otherwise.

        :raises PlatformError: the line is none, or a member is wrong.
        """
        if line.fault:
            raise InvalidFields(line.fault)
        body = dict(line.body)
        if body.get("tiers"):
            first, *others = body["tiers"]
            body["tiers"] = [{"min_quantity": 1} | first, *others]
        return read(self.form.body, body)

    def judged(
        self,
        sent: Sequence[Sent],
        look_up: Callable[[list[Mapping[str, Any]]], Sequence[Found]],
        key: Callable[[Found], Hashable],
    ) -> tuple[list[tuple[Mapping[str, Any], Found]], list[Fault]]:
        """Return the lines that name what there is, once for each `key`, and what is wrong with the others.

        `look_up` refuses all lines at once, as the action does that will write them.
        """
        try:
            found = look_up([one for _, one in sent])
        except InvalidFields as error:
            faults = self._by_line(sent, error)
            bad = {fault.line for fault in faults}
            sound, more = self.judged([one for one in sent if one[0].number not in bad], look_up, key)
            return sound, faults + more
        fresh = [(line, one, made, key(made)) for (line, one), made in zip(sent, found, strict=True)]
        faults = [_fault(line, "", "duplicate", _TWICE) for line, _, _, name in fresh if name in self._seen]
        sound = [(one, made) for _, one, made, name in fresh if name not in self._seen]
        self._seen |= {name for *_, name in fresh}
        return sound, faults

    def _by_line(self, sent: Sequence[Sent], error: InvalidFields) -> list[Fault]:
        """Tell the faults of `lines.N` by the lines that they stand in.

        :raises InvalidFields: a fault is none of a line.
        """
        faults = []
        for one in error.errors:
            member, _, rest = one.field.partition(".")
            place, _, name = rest.partition(".")
            if member != self.member or not place.isdecimal():
                raise error
            faults.append(
                _fault(sent[int(place)][0], name, one.code, _TWICE if one.code == "duplicate" else one.message)
            )
        return faults


def _fault(line: Line, member: str, code: str, message: str) -> Fault:
    key = next((str(line.body[name]) for name in ("supplier_sku", "product_id", "category") if line.body.get(name)), "")
    return Fault(line.number, key, member, code, message)
