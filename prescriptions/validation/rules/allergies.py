"""Allergies against the items' codes, ingredients and classes."""

from collections.abc import Iterator, Mapping

from prescriptions.validation.facts import Allergen, Facts, Prescribed
from prescriptions.validation.issues import Finding, Severity

from .registry import ClinicalRule, register


class _AllergyRule(ClinicalRule):
    """What both rules of allergies could not evaluate."""

    def gaps(self, facts: Facts) -> Iterator[Finding]:
        """Yield what is missing: allergies at all, codes of items, codes of allergies."""
        lines = [one.line for one in facts.prescribed]
        if not facts.allergies.is_recorded:
            message = "Not evaluated: the record tells neither of allergies nor that there are none."
            yield self.not_evaluated("no_allergies_recorded", message, lines)
            return
        yield from self.without_codes(facts)
        if any(not one.is_understood for one in facts.allergies.allergens):
            message = "Not evaluated in part: a recorded allergy has no code that the tables know."
            yield self.not_evaluated("unknown_allergen", message, lines)


@register
class AllergyExact(_AllergyRule):
    """The patient is allergic to the very product, or to one of its ingredients."""

    code = "allergy.exact"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item and allergen."""
        for item in facts.prescribed:
            for allergen in facts.allergies.allergens:
                if matched := exact_match(item, allergen):
                    yield self.finding(
                        Severity.CONTRAINDICATED,
                        [item.line],
                        f"An allergy to {allergen.label} is recorded; {item.drug.label} is or contains it.",
                        {"item": item.code, "matched": matched},
                    )
        yield from self.gaps(facts)


@register
class AllergyClass(_AllergyRule):
    """The patient is allergic to something of the same class, or to a product that shares an ingredient."""

    code = "allergy.class"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item and allergen that is no exact match."""
        classes = facts.ingredients.classes
        for item in facts.prescribed:
            for allergen in facts.allergies.allergens:
                if not exact_match(item, allergen) and (matched := _related(item, allergen, classes)):
                    yield self.finding(
                        Severity.HIGH,
                        [item.line],
                        f"An allergy to {allergen.label} is recorded; {item.drug.label} is related: {', '.join(matched)}.",
                        {"item": item.code, "matched": matched},
                    )
        yield from self.gaps(facts)


def exact_match(item: Prescribed, allergen: Allergen) -> list[str]:
    """Return what of an item an allergen is: its code, or ingredients; nothing if neither."""
    if (item.item.system, item.item.code) in allergen.codings:
        return list(item.code)
    wholly = [row for row in allergen.products if row.ingredients and item.drug.ingredients.issuperset(row.ingredients)]
    found = item.drug.ingredients & allergen.ingredients
    return sorted(found.union(*(row.ingredients for row in wholly)))


def _related(item: Prescribed, allergen: Allergen, classes: Mapping[str, frozenset[str]]) -> list[str]:
    """The classes that item and allergen share, and the ingredients that it shares with an allergenic product."""
    named = allergen.classes.union(*(classes.get(name, frozenset()) for name in allergen.ingredients))
    parts = frozenset(name for row in allergen.products for name in (*row.ingredients, *row.classes))
    return sorted(item.drug.terms & (named | parts))
