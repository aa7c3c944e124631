"""The four tables: their columns with the readers of their cells, their keys, and the models of both sides."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import models

from . import columns
from .columns import Reader, Value, required
from .models import (
    DOSE_KEY,
    KINDS,
    SEVERITIES,
    PlatformAllergyTerm,
    PlatformDose,
    PlatformInteraction,
    PlatformMedication,
    TenantAllergyTerm,
    TenantDose,
    TenantInteraction,
    TenantMedication,
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a row of a file: its line, the column (empty: the row as a whole), a code and a sentence."""

    line: int
    column: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: the columns of its file in their order, the key of a row, and where the rows of each side are.

    `finished` completes a row whose cells were read.
    """

    name: str
    columns: Mapping[str, Reader]
    key: tuple[str, ...]
    platform: type[models.Model]
    tenant: type[models.Model]
    finished: Callable[[Row], Row]

    def read(self, cells: Mapping[str, str], line: int) -> tuple[Row, list[Fault]]:
        """Read the cells of one row; the row counts only if there are no faults."""
        row: Row = {}
        faults: list[Fault] = []
        for name, reader in self.columns.items():
            try:
                row[name] = _without_control(reader)(cells[name])
            except ValueError as error:
                faults.append(Fault(line, name, "invalid", str(error)))
        if not faults:
            try:
                row = self.finished(row)
            except ValueError as error:
                faults.append(Fault(line, "", "invalid", str(error)))
        return row, faults


def _without_control(reader: Reader) -> Reader:
    def read(text: str) -> Value:
        if "\0" in text:
            raise ValueError("NUL characters cannot be stored.")
        return reader(text)

    return read


def _as_it_is(row: Row) -> Row:
    return row


def _in_order(row: Row) -> Row:
    """Put the two sides of an interaction in the order of their code points."""
    first, second = sorted((row["a"], row["b"]))
    return {**row, "a": first, "b": second}


def _bounded(row: Row) -> Row:
    """Refuse a dose without a maximum, or with a band whose ends are in the wrong order."""
    if row["single_max"] is None and row["daily_max"] is None:
        raise ValueError("A dose needs single_max or daily_max.")
    for name in ("age", "weight"):
        lower, upper = row[f"{name}_from"], row[f"{name}_to"]
        if lower is not None and upper is not None and Decimal(lower) >= Decimal(upper):
            raise ValueError(f"{name}_from must be below {name}_to.")
    return row


_BOUND = columns.number(places=3)
_MAXIMUM = columns.number(places=6, above_zero=True)

MEDICATIONS = Table(
    "medications",
    {
        "system": required(columns.system),
        "code": required(columns.text(100)),
        "display": required(columns.text(3000)),
        "ingredients": columns.tokens,
        "classes": columns.tokens,
        "form": columns.text(120),
        "strength": columns.text(200),
        "unit": columns.text(60),
        "schedule": columns.schedule,
    },
    ("system", "code"),
    PlatformMedication,
    TenantMedication,
    _as_it_is,
)
INTERACTIONS = Table(
    "interactions",
    {
        "a": required(columns.token),
        "b": required(columns.token),
        "severity": columns.choice(SEVERITIES),
        "text": columns.text(2000),
        "source": columns.text(500),
    },
    ("a", "b"),
    PlatformInteraction,
    TenantInteraction,
    _in_order,
)
DOSES = Table(
    "doses",
    {
        "ingredient": required(columns.token),
        "route": columns.token,
        "age_from": _BOUND,
        "age_to": _BOUND,
        "weight_from": _BOUND,
        "weight_to": _BOUND,
        "single_max": _MAXIMUM,
        "daily_max": _MAXIMUM,
        "unit": required(columns.text(60)),
        "per_kg": columns.flag,
    },
    DOSE_KEY,
    PlatformDose,
    TenantDose,
    _bounded,
)
ALLERGY_MAP = Table(
    "allergy_map",
    {
        "system": required(columns.system),
        "code": required(columns.text(100)),
        "display": columns.text(1000),
        "kind": columns.choice(KINDS),
        "value": required(columns.token),
    },
    ("system", "code", "kind", "value"),
    PlatformAllergyTerm,
    TenantAllergyTerm,
    _as_it_is,
)
TABLES = {table.name: table for table in (MEDICATIONS, INTERACTIONS, DOSES, ALLERGY_MAP)}
