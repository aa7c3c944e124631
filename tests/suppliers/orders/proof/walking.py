"""Walks of a supplier and two hospitals through everything that they do with goods and money; what is asked for, and what must come of it."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.suppliers.orders.proof.accounts import Accounts
from tests.suppliers.orders.proof.fair import Buyer, Fair

DONE: Counter[str] = Counter()
ACTS: list[tuple[str, dict[str, Any]]] = []


def act(times: int = 1, **drawn: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register an act of the walk, so many times as likely as others, with what is drawn for it."""

    def register(work: Callable[..., None]) -> Callable[..., None]:
        ACTS.extend([(work.__name__, drawn)] * times)
        return work

    return register


class Walk:
    """The parties, and what the test itself knows of their money."""

    fair: Fair
    accounts: Accounts

    def start(self, fair: Fair) -> None:
        """Begin with parties that have done nothing yet."""
        self.fair, self.accounts = fair, Accounts()
        self.returned: dict[str, int] = {}  # base units that came back and were kept, by line of the order
        self.lost: set[Any] = set()  # hospitals of whose goods some were sent back, and never came
        self.touched: dict[str, tuple[Buyer, Any]] = {}

    def send(self, name: str, ask: Callable[[], Any], expected: str | None = None) -> dict[str, Any] | None:
        """Ask; return the object of the answer, None for a refusal, which tells nobody of anything.

        `expected` is the code of the refusal, or "" where it must not be refused.
        """
        before = self.fair.facts()
        answer = ask()
        found = answer.json()
        assert answer.status_code in (200, 201, 400, 409), (name, answer.status_code, answer.content)
        code = "" if answer.status_code < 400 else found["code"]
        DONE[f"{name} {code or answer.status_code}"] += 1
        assert code not in ("concurrent_update", "internal_error"), (name, answer.content)
        assert expected is None or code == expected, (name, expected, answer.content)
        if code:
            assert self.fair.facts() == before, (name, answer.content)
            return None
        made: dict[str, Any] = found["data"]
        return made

    def house(self, who: int) -> Buyer:
        """Return one of the hospitals."""
        return self.fair.buyers[who]

    def pick(self, kind: str, house: Buyer, found: list[Any], number: int) -> Any:
        """Return one of some rows, if there are any, and look at it on both sides after the step."""
        if not found:
            return None
        row = found[number % len(found)]
        self.touched[kind] = (house, row.id)
        return row

    def ended(self) -> set[str]:
        """Return the invoices that count no more."""
        return {str(one.id) for house in self.fair.buyers for one in house.invoices("rejected", "cancelled")}
