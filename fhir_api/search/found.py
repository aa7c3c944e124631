"""Resources as a search finds them: a row of the table, with the bytes to answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from core.pipeline import Rows
from fhir_api.resources.types import NAMES
from fhir_api.store import Name

COLUMNS: Final = "r.id, r.type, r.fhir_id, r.body"


class Telling(Rows):
    """Rows that tell in a last column how many rows the driver has; where nothing was found, a row of that alone."""

    __slots__ = ()

    def __len__(self) -> int:
        return 0 if self.value() is None else super().__len__()

    @property
    def number(self) -> int:
        """How many rows the driver has, up to the bound."""
        return int(self.result.get_value(0, self.result.nfields - 1))

    def row(self, row: int = 0) -> list[bytes | None]:
        """All other values of one row."""
        return super().row(row)[:-1]


@dataclass(frozen=True, slots=True)
class Found:
    """One resource; `date` and `values` are where it stands in the order, if it is a match."""

    row: str
    type: str
    fhir_id: str
    body: bytes
    date: str = ""
    values: tuple[str | None, ...] = ()

    @property
    def name(self) -> Name:
        """Type and id."""
        return self.type, self.fhir_id


def read(rows: Rows) -> Iterator[Found]:
    """Rows of `COLUMNS`, and for matches the sort date and the values they are ordered by."""
    for n in range(len(rows)):
        row, kind, fhir_id, body, *place = rows.row(n)
        texts = [None if one is None else one.decode() for one in place]
        yield Found(
            row=(row or b"").decode(),
            type=NAMES[int(kind or 0)],
            fhir_id=(fhir_id or b"").decode(),
            body=body or b"",
            date=(texts[0] or "") if texts else "",
            values=tuple(texts[1:]),
        )
