"""The revision that a caller has read, held against the present one. Source: contract, supply-order.md 2 "States"."""

from .models import PurchaseOrder
from .refusals import RevisionChanged


def check_revision(row: PurchaseOrder, revision: int | None) -> None:
    """Require that the caller has read the present revision, where one is named.

    :raises RevisionChanged: it is another.
    """
    if revision not in (None, row.revision):
        raise RevisionChanged(revision=row.revision)
