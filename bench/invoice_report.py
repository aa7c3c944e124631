"""The marks of `./dev bench invoice`. Source: performance.md, "Trade"; lists of invoices are held to what lists of orders are."""

from collections.abc import Mapping
from typing import Final

from .prescriptions_report import Held, Mark
from .supply_report import Table

# Source: contract, supply.md 3.3, for acts of invoices and payments as for any action; begin and end are two more.
_MOST_TRIPS: Final = {"issue": 6, "match": 6, "approve": 6, "pay": 6, "confirm": 6}
_ACTS: Final = ("issue", "match", "approve", "pay", "confirm")
TABLE: Final = Table(
    marks=(
        Mark("invoices of the buyer", "cost", "product list", 1.3),
        Mark("invoices of the supplier", "cost", "product list", 1.3),
        Mark("invoices of the supplier", "cost", "invoices of the buyer", 1.15),
        Mark("invoices of the buyer, 50", "cost", "product list of 50", 1.3),
        Mark("invoices of the supplier, 50", "cost", "product list of 50", 1.3),
        Mark("issue, 1 line", "cost", "create product", 2.5),
        Mark("match, 1 line", "cost", "create product", 2.5),
        Mark("approve, 1 line", "cost", "create product", 2.5),
        Mark("pay, 1 line", "cost", "create product", 2.5),
        Mark("confirm, 1 line", "cost", "create product", 2.5),
        *(Mark(f"{act}, 50 lines", "cost", f"{act}, 1 line", 5.0) for act in _ACTS),
        Mark("issue, 1 line", "cost", "issue, 1 line, without its copy", 1.3),
        Mark("issue, 50 lines", "cost", "issue, 50 lines, without its copy", 1.3),
    ),
    alike=tuple((f"{act}, 1 line", f"{act}, 50 lines") for act in _ACTS),
    growing=(
        "product list", "invoices of the buyer", "invoices of the supplier", "get invoice, buyer", "get invoice, supplier",
        *(f"{act}, 1 line" for act in _ACTS),
    ),
    rows="orders",
)  # fmt: skip


def bounded(trips: Mapping[str, int]) -> list[Held]:
    """Hold the trips of each act to what the contract allows it."""
    return [
        Held(f"{name}: trips", trips[name], most, "")
        for act, most in _MOST_TRIPS.items()
        for name in trips
        if name.startswith(f"{act},")
    ]
