"""The marks of `./dev bench order`. Source: performance.md, "Trade"."""

from collections.abc import Mapping
from typing import Final

from .prescriptions_report import Held, Mark
from .supply_report import Table

_MOST_TRIPS: Final = {"submit": 8, "accept": 6}  # Source: contract, supply.md 3.3
TABLE: Final = Table(
    marks=(
        Mark("purchase orders", "cost", "product list", 1.3),
        Mark("orders", "cost", "product list", 1.3),
        Mark("orders", "cost", "purchase orders", 1.15),
        Mark("purchase orders, 50", "cost", "product list of 50", 1.3),
        Mark("orders, 50", "cost", "product list of 50", 1.3),
        Mark("purchase orders, large", "cost", "product list, large", 1.3),
        Mark("orders, large", "cost", "product list, large", 1.3),
        Mark("purchase orders by search", "cost", "purchase orders", 2.0),
        Mark("orders by search", "cost", "orders", 2.0),
        Mark("submit, 50 lines", "cost", "submit, 1 line", 5.0),
        Mark("submit, 1 line", "cost", "submit, 1 line, without its copy", 1.3),
        Mark("submit, 50 lines", "cost", "submit, 50 lines, without its copy", 1.3),
        Mark("accept, 50 lines", "cost", "accept, 1 line", 5.0),
        Mark("receipt, 1 line", "cost", "create product", 2.5),
    ),
    alike=(
        ("draft, 1 line", "draft, 50 lines"),
        ("submit, 1 line", "submit, 50 lines"),
        ("accept, 1 line", "accept, 50 lines"),
        ("receipt, 1 line", "receipt, 50 lines"),
    ),
    growing=(
        "product list", "purchase orders", "orders", "purchase orders, large", "orders, large", "purchase orders sent",
        "orders sent", "get purchase order", "get order", "draft, 1 line", "submit, 1 line", "accept, 1 line",
        "receipt, 1 line",
    ),
    rows="orders",
)  # fmt: skip


def bounded(trips: Mapping[str, int]) -> list[Held]:
    """Hold the trips of each action to what the contract allows it."""
    return [
        Held(f"{name}: trips", trips[name], most, "")
        for action, most in _MOST_TRIPS.items()
        for name in trips
        if name.startswith(f"{action},")
    ]
