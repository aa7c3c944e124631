"""What the patient is given already."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from prescriptions.validation.facts import Drug, Facts
from prescriptions.validation.issues import Finding, Severity

from .registry import ClinicalRule, register


class OtherDrugsRule(ClinicalRule):
    """A rule that compares items with the patient's other drugs."""

    def gaps(self, facts: Facts) -> Iterator[Finding]:
        """Yield what is missing: codes of items, codes of the other drugs."""
        yield from self.without_codes(facts)
        if any(not drug.is_known for drug in facts.others):
            message = (
                "Not evaluated in part: the ingredients of another drug of the patient are not known to the tables."
            )
            yield self.not_evaluated("unknown_other_drug", message, [one.line for one in facts.prescribed])


class _DuplicateRule(OtherDrugsRule):
    """What the prescription continues is no second treatment: that it is still open is told, and needs nothing."""

    severity: ClassVar[Severity]
    kind: ClassVar[str]

    @abstractmethod
    def shared(self, drug: Drug, other: Drug) -> frozenset[str]:
        """Return what both have."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item and what it shares with other drugs, however many these are."""
        for item in facts.prescribed:
            shared: dict[tuple[str, bool], list[Drug]] = {}
            for other in facts.others:
                for name in sorted(self.shared(item.drug, other)):
                    shared.setdefault((name, other.is_continued), []).append(other)
            for (name, is_continued), others in sorted(shared.items()):
                labels = ", ".join(other.label for other in others)
                told = f"as {labels}, which is continued and still open." if is_continued else f"as {labels}."
                yield self.finding(
                    Severity.LOW if is_continued else self.severity,
                    [item.line],
                    f"{item.drug.label} has the same {self.kind} ({name}) {told}",
                    {"item": item.code, "shared": name, "others": [list(other.identity) for other in others]},
                )
        yield from self.gaps(facts)


@register
class DuplicateIngredient(_DuplicateRule):
    """Another drug of the patient holds the same ingredient."""

    code = "duplicate.ingredient"
    severity = Severity.HIGH
    kind = "ingredient"

    def shared(self, drug: Drug, other: Drug) -> frozenset[str]:
        """Return the ingredients of both."""
        return drug.ingredients & other.ingredients


@register
class DuplicateClass(_DuplicateRule):
    """Another drug of the patient, of other ingredients, is of the same class."""

    code = "duplicate.class"
    severity = Severity.MODERATE
    kind = "class"

    def shared(self, drug: Drug, other: Drug) -> frozenset[str]:
        """Return the classes of both, unless they share an ingredient, which the other rule tells."""
        return frozenset() if drug.ingredients & other.ingredients else drug.classes & other.classes
