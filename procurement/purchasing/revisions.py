"""The revision that a caller has read, held against the present one. Source: contract, supply-order.md 2 "States"."""

from suppliers.public import PurchaseOrder, RevisionChanged


def check_revision(row: PurchaseOrder, revision: int) -> None:
    """Require that the caller has read the present revision.

    :raises RevisionChanged: it is another.
    """
    if revision != row.revision:
        raise RevisionChanged(revision=row.revision)
