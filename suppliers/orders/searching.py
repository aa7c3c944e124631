"""Finding documents by words of their numbers and of the other party's name.

The words of a document's own columns stand in `DocumentWord`. Names of parties are looked up when one searches, since they change
and stand in no copy: the parties of a list are few, and an index walks from one to the next.
Source: contract, organizations.md "Documents of two parties"; supply.md 8.
"""

from dataclasses import dataclass
from typing import Final

from core.conditions import TENANT, Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import LAST, MAX_SEARCH_WORDS, words_of

from .states import DocumentKind


def words_searched(value: str) -> list[str]:
    """Return the words of a search, folded.

    :raises InvalidFields: there is none, or there are too many.
    """
    found = words_of(value)
    if not 1 <= len(found) <= MAX_SEARCH_WORDS:
        message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
        raise InvalidFields(errors=[FieldError("search", "invalid", message)])
    return found


@dataclass(frozen=True, slots=True)
class Searched:
    """A list of documents that are searched: their kind, their table, and its column of the other party, by which it has an index."""

    kind: DocumentKind
    table: str
    party: str

    def condition(self, value: str) -> Condition:
        """Return the condition that a document has, for each word of a search, a word that begins with it.

        The document's own words come first where one of the search can only be a number: that finds few.

        :raises InvalidFields: the search has no word, or too many.
        """
        words = sorted(words_searched(value), key=lambda word: (word.isalpha(), -len(word)))
        others = range(1, len(words))
        by_word = "".join(
            f" AND ({self._has(place, 'w.document_id')} OR w.party_id = ANY({self._named(place)}))" for place in others
        )
        by_name = "".join(
            f' AND ({self._has(place, "d.id")} OR d."{self.party}" = ANY({self._named(place)}))' for place in others
        )
        ids = (
            f"SELECT w.document_id FROM suppliers_documentword w WHERE {self._bound('w')} AND {_begins('w', 0)}{by_word}"
            f' UNION ALL SELECT d.id FROM "{self.table}" d WHERE d.tenant_id = {TENANT} AND d."{self.party}" = ANY({self._named(0)}){by_name}'
        )
        bounds = tuple(bound for word in words for bound in (word, word + LAST))
        return Condition(f't."id" IN (SELECT unnest(ARRAY({ids})))', bounds, is_costly=True, ids=ids)

    def _bound(self, alias: str) -> str:
        return f"{alias}.tenant_id = {TENANT} AND {alias}.kind = '{self.kind.value}'"

    def _has(self, place: int, document: str) -> str:
        """Tell whether a document has the word of a place."""
        return (
            f"EXISTS (SELECT 1 FROM suppliers_documentword o WHERE {self._bound('o')} AND o.document_id = {document}"
            f" AND {_begins('o', place)} OFFSET 0)"
        )

    def _named(self, place: int) -> str:
        """Write the array of the other parties with a name that has the word of a place; `OFFSET 0`: no other tenant's is read."""
        first = (
            f'SELECT d."{self.party}" AS id FROM "{self.table}" d WHERE d.tenant_id = {TENANT}%s'
            f' ORDER BY d."{self.party}" LIMIT 1'
        )
        following = first % f' AND d."{self.party}" > p.id'
        return (
            f"ARRAY(WITH RECURSIVE p AS (({first % ''}) UNION ALL SELECT ({following}) FROM p WHERE p.id IS NOT NULL)"
            " SELECT p.id FROM p CROSS JOIN LATERAL (SELECT n.name_words FROM organizations_tenant n WHERE n.id = p.id OFFSET 0) n"
            f" WHERE strpos(n.name_words, ' ' || {{{2 * place}}}::text) > 0)"
        )


def _begins(alias: str, place: int) -> str:
    """Tell whether a row's word begins with that of a place."""
    return f"{alias}.word >= {{{2 * place}}} AND {alias}.word < {{{2 * place + 1}}}"


def of_either(value: str, *lists: Searched) -> Condition:
    """Return the condition of a list that shows rows of several tables as one, a document of which stands in one of them."""
    found = [one.condition(value) for one in lists]
    ids = " UNION ALL ".join(one.ids for one in found)
    return Condition(f't."id" = ANY(ARRAY({ids}))', found[0].parameters, ids=ids)


ORDERS_OF_BUYER: Final = Searched(DocumentKind.PURCHASE_ORDER, "suppliers_purchaseorder", "supplier_tenant_id")
ORDERS_OF_SUPPLIER: Final = Searched(DocumentKind.ORDER, "suppliers_receivedorder", "owner_tenant_id")
DELIVERIES_OF_BUYER: Final = Searched(DocumentKind.DELIVERY, "suppliers_delivery", "supplier_tenant_id")
DELIVERIES_OF_SUPPLIER: Final = Searched(DocumentKind.DELIVERY, "suppliers_receiveddelivery", "owner_tenant_id")
