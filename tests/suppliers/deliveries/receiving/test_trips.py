"""What a receipt costs in trips to the database where its order is billed, and in which order it locks."""

from bench.statements import recording
from tests.suppliers.deliveries.receiving.arrivals import PATH
from tests.suppliers.invoices import bills


def test_a_receipt_of_a_billed_order_takes_no_trip_more_and_locks_invoices_before_stock() -> None:
    desk = bills.desk()
    order = desk.ordered()
    first, second, third = (desk.ship(order, 20) for _ in range(3))
    desk.receive(first, 20)
    desk.receive(second, 5)  # what is asked for the first time is not counted
    desk.issue(order, 60)

    given = desk.dock.body(third, {"accepted_quantity": 20})
    with recording() as made:
        answer = desk.dock.clerk.post(f"{PATH}/{third}/receipts", json=given, headers={"Idempotency-Key": str(third)})

    assert (answer.status_code, len(made)) == (201, 6), "\n".join(made.texts())
    asked = [call.statement.sql.decode() for trip in made.trips for call in trip.calls]
    (invoices,) = [
        number for number, sql in enumerate(asked) if "FROM suppliers_invoice v" in sql and "FOR UPDATE" in sql
    ]
    stock = [
        number for number, sql in enumerate(asked)
        if "UPDATE" in sql and any(f"FROM suppliers_{one} " in sql for one in ("lot", "stocklevel"))
    ]  # fmt: skip
    assert stock
    assert invoices < min(stock)
    assert desk.stored() == [("invoice", "mismatched")]
