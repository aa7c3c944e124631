"""Resources under codes that the client chooses: the form of a code, and the look-up of a row to put. Source: contract, supply-price.md 1."""

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.db import models

from .actor import Actor
from .db import needs_transaction
from .errors import FieldError, InvalidFields

M = TypeVar("M", bound=models.Model)

OWN_CODE: Final = r"^[A-Za-z0-9._-]{1,64}$"
_FORM: Final = re.compile(OWN_CODE.removeprefix("^").removesuffix("$"))


def check_code(code: str) -> None:
    """Require the form of an own code: 1 to 64 letters, digits, points, underscores and hyphens.

    :raises InvalidFields: at `code`.
    """
    if not _FORM.fullmatch(code):
        message = "A code is 1 to 64 letters of A to Z, digits, points, underscores and hyphens."
        raise InvalidFields(errors=[FieldError("code", "invalid", message)])


def to_put(model: type[M]) -> Callable[[Actor, str], M | None]:
    """Return the `find` of a PUT under a code: the tenant's row, locked until the transaction ends; None if the code is free.

    The model has the columns `tenant` and `code`, and a unique constraint over both.
    """

    @needs_transaction
    def find(actor: Actor, code: str) -> M | None:
        """Find the row to replace.

        :raises InvalidFields: the code does not have the form of one.
        """
        check_code(code)
        rows: Any = model._default_manager
        found: M | None = rows.of(actor).select_for_update(no_key=True).filter(code=code).first()
        return found

    return find
