"""A catalog read from lines: batches through the actions of the bulk operation, each in a transaction of its own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from api.batches import MOST_ROWS
from api.serializers import read
from core import clock
from core.actor import system_actor
from core.batches import Outcome
from core.db import tenant_context
from suppliers.catalog.bulk.actions import write_products
from suppliers.catalog.bulk.serializers import ProductsIn
from suppliers.catalog.serializers import ProductIn

from .csv_files import Form, Line
from .file_imports import Fault, FileImport, faults_of

KEY: Final = "supplier_sku"
PRODUCTS: Final = Form(ProductIn, (KEY,), "Products", lambda path: path[0] == "attributes" and path[-1] == "value")


@dataclass
class Import(FileImport):
    """The import of one file into one tenant. With `is_dry` every batch is judged and rolled back."""

    form = PRODUCTS
    statuses = ("created", "updated", "unchanged", "failed")
    noun = "products"

    tenant_id: UUID
    mode: str
    is_dry: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _seen: dict[str, int] = field(default_factory=dict)

    def take(self, lines: Iterable[Line]) -> Iterator[list[Fault]]:
        """Write the lines batch by batch; after each yield the faults of its lines, in their order."""
        rest = iter(lines)
        while batch := list(islice(rest, MOST_ROWS)):
            faults = [fault for line in batch if (fault := self._unusable(line))]
            bad = {fault.line for fault in faults}
            sound = [line for line in batch if line.number not in bad]
            if sound:
                faults += self._write(sound)
            self.counts["failed"] += len({fault.line for fault in faults})
            yield sorted(faults)

    def _unusable(self, line: Line) -> Fault | None:
        """Refuse a line that is none, and the second one of a SKU."""
        sku = str(line.body.get(KEY, ""))
        if line.fault:
            return Fault(line.number, sku, "", "invalid", line.fault)
        first = self._seen.setdefault(sku, line.number) if sku else line.number
        if first != line.number:
            return Fault(line.number, sku, KEY, "duplicate", f"Line {first} names it too.")
        return None

    def _write(self, batch: Sequence[Line]) -> list[Fault]:
        body = {"items": [line.body for line in batch], "mode": self.mode, "atomic": False}
        with tenant_context(self.tenant_id), transaction.atomic():
            data = read(ProductsIn, body)
            outcomes: list[Outcome] = list(data["outcomes"])
            if data["items"]:
                outcomes += self._written(data)
            if self.is_dry:
                transaction.set_rollback(True)
        self.counts.update(one.status for one in outcomes if one.error is None)
        return [
            Fault(
                batch[one.index].number, str(batch[one.index].body.get(KEY, "")), fault.field, fault.code, fault.message
            )
            for one in outcomes
            if one.error is not None
            for fault in faults_of(one.error)
        ]

    def _written(self, data: dict[str, Any]) -> list[Outcome]:
        return write_products(system_actor(self.tenant_id), data, clock.now())
