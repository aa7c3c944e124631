"""Interactions of the items with each other and with the patient's other drugs."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final

from prescriptions.medications.knowledge import Interaction
from prescriptions.validation.facts import Facts
from prescriptions.validation.issues import Finding, Severity

from .duplicates import OtherDrugsRule
from .registry import register

_SEVERITIES: Final = {
    severity.value: severity for severity in (Severity.LOW, Severity.MODERATE, Severity.HIGH, Severity.CONTRAINDICATED)
}


def severity_of(row: Interaction) -> Severity:
    """Return the severity of a row of the table; a word that is none counts as high."""
    return _SEVERITIES.get(row.severity, Severity.HIGH)


def strictest(rows: Iterable[Interaction]) -> Interaction | None:
    """Return the gravest row; of two alike, the first by its terms."""
    return min(rows, key=lambda row: (-severity_of(row).rank, row.a, row.b, row.text), default=None)


@register
class InteractionDrugDrug(OtherDrugsRule):
    """The table names an interaction of two drugs, by ingredient or class."""

    code = "interaction.drug_drug"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield the gravest interaction of each pair of drugs."""
        items = facts.prescribed
        pairs = [(one.drug, other.drug, [one.line, other.line]) for one, other in combinations(items, 2)]
        pairs += [(one.drug, other, [one.line]) for one in items for other in facts.others]
        for drug, other, lines in pairs:
            if row := strictest(facts.rows_between(drug.terms, other.terms)):
                yield self.finding(
                    severity_of(row),
                    lines,
                    f"{drug.label} interacts with {other.label}: {row.text or f'{row.a} and {row.b}'}",
                    {
                        "drugs": sorted([list(drug.identity), list(other.identity)]),
                        "row": [*sorted((row.a, row.b)), row.severity, row.text],
                    },
                )
        yield from self.gaps(facts)
