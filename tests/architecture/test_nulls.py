"""Members of answers that may be null say so in the document, also where a received copy serves them."""

from typing import Any

import pytest

from api.representations import Representation
from suppliers.orders.representations import OrderForSupplierOut
from tests.architecture.test_representations import KINDS

COPIES = [kind for kind in KINDS if hasattr(kind.Meta, "shown")]


def _nullable(kind: type[Representation]) -> dict[str, bool]:
    return {name: bool(field.allow_null) for name, field in kind().fields.items()}


@pytest.mark.parametrize("kind", COPIES, ids=lambda one: one.__name__)
def test_member_of_a_received_copy_may_be_null_where_its_owner_s_may(kind: Any) -> None:
    owner_s, copy_s = _nullable(kind.Meta.shown), _nullable(kind)
    assert [name for name in owner_s.keys() & copy_s.keys() if owner_s[name] and not copy_s[name]] == []


def test_some_members_of_copies_are_documents_that_may_be_null() -> None:
    """What the walk is about: a JSON column that may be null, whose field does not say so itself."""
    copies = [kind for kind in COPIES if kind.Meta.shown is OrderForSupplierOut]
    assert copies
    for kind in copies:
        assert {"payment_terms", "delivery_address"} <= {name for name, may in _nullable(kind).items() if may}
