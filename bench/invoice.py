"""`./dev bench invoice`: lists of invoices and payments on both sides, and invoices of one line and of fifty from their issue to their
payment, beside the creation of a product; marks of trade and growth. It works on the databases of `./dev bench order`.
"""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from devtools.places import ROOT

from . import invoice_report, invoice_rows, order, supply_report, upkeep
from .invoice_flow import Money
from .order import asked, measure, opened, write
from .place import Place, backends_of
from .report import machine_line
from .supply import Work

RESULTS = ROOT / "bench" / "results" / "invoice.md"
_INVOICES, _PAYMENTS = "/v1/procurement/invoices", "/v1/procurement/payments"


class Bench(order.Bench):
    """A database of orders of which the old ones are invoiced and paid."""

    world_options = ("--payers",)

    def __init__(self, place: Place, wanted: argparse.Namespace, stack: ExitStack) -> None:
        super().__init__(place, wanted, stack)
        if seconds := invoice_rows.fill(self.connection, self.world):
            print(f"their invoices written in {seconds:.0f} s", flush=True)
        self.money = Money(self)

    @contextmanager
    def longer(self, times: int) -> Iterator[None]:
        """Let requests be sent so many times as long."""
        kept, more = self.wanted, vars(self.wanted) | {"seconds": self.wanted.seconds * times}
        self.wanted = argparse.Namespace(**more)
        try:
            yield
        finally:
            self.wanted = kept

    def today(self) -> str:
        """The date at the database."""
        (day,) = self.connection.execute("SELECT current_date::text").fetchone()
        return str(day)

    def restock(self) -> None:
        """Begin a round, for which goods arrive."""
        super().restock()
        self.money.arrive()

    def payers(self) -> list[dict[str, Any]]:
        """A member of finance of each buyer but the large one."""
        return [{"tenant": one["tenant"], "token": one["payer"]} for one in self.buyers]

    def works(self) -> dict[str, Work]:
        """What is measured in each round, in this order."""
        payers, large = self.payers(), self.world["suppliers"][:1]
        mine, paid = "suppliers_invoice", "status = 'paid'"
        return {
            "product list": self.reads(self.suppliers, "/v1/products"),
            "invoices of the buyer": self.reads(payers, f"{_INVOICES}?limit=20"),
            "invoices of the supplier": self.reads(self.suppliers, f"{_INVOICES}?limit=20"),
            "product list of 50": self.reads(self.suppliers, "/v1/products?limit=50"),
            "invoices of the buyer, 50": self.reads(payers, _INVOICES),
            "invoices of the supplier, 50": self.reads(self.suppliers, f"{_INVOICES}?limit=50"),
            "invoices of the supplier, large": self.reads(large, f"{_INVOICES}?limit=20"),
            "invoices of the buyer, paid": self.reads(payers, f"{_INVOICES}?limit=20&status=paid"),
            "invoices of the supplier, paid": self.reads(self.suppliers, f"{_INVOICES}?limit=20&status=paid"),
            "payments of the buyer": self.reads(payers, f"{_PAYMENTS}?limit=20"),
            "payments of the supplier, large": self.reads(large, f"{_PAYMENTS}?limit=20"),
            "get invoice, buyer": self.gets(payers, _INVOICES, "tenant_id", mine, paid),
            "get invoice, supplier": self.gets(
                self.suppliers, _INVOICES, "tenant_id", "suppliers_receivedinvoice", paid
            ),
            "create product": self.create,
            **self.money.works(),
        }

    def trips(self) -> dict[str, int]:
        """The round trips of one request of each work that has some."""
        reads = {
            "invoices of the buyer": (self.payers()[0], _INVOICES),
            "invoices of the supplier": (self.suppliers[0], _INVOICES),
            "payments of the buyer": (self.payers()[0], _PAYMENTS),
            "payments of the supplier, large": (self.world["suppliers"][0], _PAYMENTS),
        }
        asked_for = {
            name: {**one, "method": "GET", "path": path, "status": 200, "body": {}}
            for name, (one, path) in reads.items()
        }
        return self.counted(asked_for | self.money.samples())


def _how(wanted: argparse.Namespace) -> str:
    return (
        f"Orders by size: {', '.join(f'{orders:,}' for orders in wanted.sizes)}, as in `./dev bench order`; those that are closed, 86 % of"
        " the old ones, have an invoice each, which is paid. In each round orders of all buyers but the large one at the large supplier"
        " come to their receipts, which is not measured; they are invoiced, matched again, released and paid, all but one of each, of"
        f" which the trips are counted. {wanted.rounds} rounds of {wanted.seconds:g} s each, interleaved, {wanted.connections} connections and 2"
        " workers; medians. `cost` is the CPU of web and PostgreSQL together by process accounting; ratios are medians of the rounds'"
        f" ratios. {upkeep.HOW} `without its copy` is the same issue at a server that computes and writes no received copies. Of the acts"
        " there are as many requests as orders came in a round, at most."
    )


def main(arguments: list[str]) -> int:
    """Measure, print and write the results."""
    wanted = asked("invoice", arguments, RESULTS)
    with backends_of(wanted.data) as backends, ExitStack() as stack:
        benches = opened(Bench, backends, wanted, stack)
        found = measure(backends, benches, wanted.rounds)
        trips = {orders: bench.trips() for orders, bench in benches.items()}
        once = {orders: invoice_report.bounded(counted) for orders, counted in trips.items()}
        lines = ["# From invoice to the last cent, `./dev bench invoice`", "", machine_line(), "", _how(wanted)]
    return write(wanted, [*lines, *supply_report.told(found, trips, invoice_report.TABLE, once)])
