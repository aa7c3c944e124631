"""Refusals of quotes."""

from core.errors import Unprocessable


class PriceNotAvailable(Unprocessable):
    """Lines have no price in the currency; `errors` names each, with its trace."""

    code = "price_not_available"
    title = "There is no price for some lines."
