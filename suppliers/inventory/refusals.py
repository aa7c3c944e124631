"""Refusals of the inventory."""

from core.errors import Conflict, Duplicate, Forbidden


class StockPlaceCodeTaken(Duplicate):
    """Another stock location of the tenant has this code."""

    title = "Another stock location has this code."


class StockPlaceTaken(Conflict):
    """The location became a stock location in the meantime."""

    code = "concurrent_update"
    title = "The location has just become a stock location; try again."


class InsufficientStock(Conflict):
    """Less can be promised than is asked for; `errors` names each line with what is available, as the offer tells it."""

    code = "insufficient_stock"
    title = "There is not enough stock."


class ReservationLimit(Conflict):
    """The buyer would hold more than its share of the stock, or has extended the reservation too often."""

    code = "reservation_limit"
    title = "The limit of reservations is reached."


class ReservationExpired(Conflict):
    """The time of the reservation is over."""

    code = "reservation_expired"
    title = "The reservation has expired."


class ReservationNotActive(Conflict):
    """The reservation was consumed, released or broken."""

    code = "reservation_not_active"
    title = "The reservation is not active any more."
    extensions = {"state": "released"}


class StockReserved(Conflict):
    """Less would be left than is reserved; `errors` names each line."""

    code = "stock_reserved"
    title = "The stock is reserved."


class StaleQuantity(Conflict):
    """Another quantity is on hand than the count expected; `errors` names each line with the present one."""

    code = "stale_quantity"
    title = "The quantity has changed since it was read."


class LotConflict(Conflict):
    """The lot is known with another expiry date; `errors` names each line."""

    code = "lot_conflict"
    title = "The lot has another expiry date."


class LotRecalled(Conflict):
    """Nothing is added to a recalled lot, it moves only where nothing is sold, and is not released; `errors` names each line."""

    code = "lot_recalled"
    title = "The lot is recalled."


class WrongSerial(Conflict):
    """A serial number is not where it was said to be, or in stock already; `errors` names each line."""

    code = "wrong_serial"
    title = "A serial number is not there."


class WithdrawalNotPermitted(Forbidden):
    """Only an administrator of the supplier withdraws a recall."""

    code = "withdrawal_not_permitted"
    title = "A recall is withdrawn by the role supplier_admin only."


class StorageMismatch(Conflict):
    """The place is warmer or colder than the product bears; `errors` names each line."""

    code = "storage_mismatch"
    title = "The place does not suit the product's storage conditions."
