"""SQL conditions that narrow the rows of a list or of a single read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# The parameter that names the tenant, in a condition or a member of a representation. The builder of the statement puts
# its number there: a sub-select names its tenant by a parameter of its own, not by that of the outer row.
TENANT: Final = "$tenant"


@dataclass(frozen=True, slots=True)
class SoleTerm:
    """How rows are found where a search means a single stored term; `{term}` stands for its SQL in `ids` and `has`.

    `found` is the SQL of that term, NULL where the search means several. `ids` is the SELECT of the ids of all rows that have the
    term, each once, and `has` the condition that the row `t` has it. All take the parameters of their condition.
    """

    found: str
    ids: str
    has: str

    def numbered(self, names: Sequence[str]) -> "SoleTerm":
        """Return the same with the names of its parameters; `{term}` still stands for the term."""
        return SoleTerm(*(one.format(*names, term="{term}") for one in (self.found, self.ids, self.has)))


@dataclass(frozen=True, slots=True)
class Condition:
    """A SQL condition on the row `t`; `{0}`, `{1}` … stand for its parameters, which are given in text form.

    `TENANT` in it stands for the parameter of the tenant. With `is_costly`, the rows are looked up once for a page and its total.
    `ids` may hold a SELECT of the ids of all rows that fulfil it, by the same parameters; each of these rows is in the table.
    `sole` may tell how these rows are found more cheaply where they have one term in common.
    """

    sql: str
    parameters: tuple[str, ...] = ()
    is_costly: bool = False
    ids: str = ""
    sole: SoleTerm | None = None


def all_of(conditions: Sequence[Condition]) -> Condition | None:
    """Join conditions with AND; None if there are none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    pieces, parameters = [], list[str]()
    for one in conditions:
        pieces.append(one.sql.format(*(f"{{{len(parameters) + n}}}" for n in range(len(one.parameters)))))
        parameters += one.parameters
    return Condition(" AND ".join(f"({piece})" for piece in pieces), tuple(parameters))
