"""The rules of controlled items. Source: contract, prescriptions.md, "Controlled items"."""

from collections.abc import Iterator

from prescriptions.validation.facts import Facts, Prescribed
from prescriptions.validation.issues import Finding, Severity
from prescriptions.validation.words import is_number_in_words

from .registry import ClinicalRule, register


@register
class SchedulePolicy(ClinicalRule):
    """A controlled item breaks one of the tenant's rules; nothing overrides that."""

    code = "schedule.policy"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each broken rule and item."""
        controlled = [one for one in facts.prescribed if one.schedule]
        if len(controlled) > 1:
            message = "A prescription may hold one controlled item only."
            read = {"rule": "one_controlled_item", "items": sorted(one.code for one in controlled)}
            yield self.finding(Severity.BLOCKING, [one.line for one in controlled], message, read)
        for item in controlled:
            yield from self._fills(facts, item)
            if facts.inputs.policies.controlled_words_required:
                yield from self._words(facts, item)
        unknown = [one.line for one in facts.prescribed if one.medication is None and not one.item.schedule]
        if unknown:
            message = "Not evaluated: the medication is not in the tables, and no schedule is given."
            yield self.not_evaluated("no_schedule", message, unknown)

    def _fills(self, facts: Facts, item: Prescribed) -> Iterator[Finding]:
        given, limit = item.item.fills_allowed, facts.inputs.policies.controlled_max_fills
        if given > limit:
            message = f"{item.drug.label} is controlled and allows {given} fills; at most {limit} are allowed."
            read = {"rule": "max_fills", "item": item.code, "given": given, "limit": limit}
            yield self.finding(Severity.BLOCKING, [item.line], message, read)

    def _words(self, facts: Facts, item: Prescribed) -> Iterator[Finding]:
        text, number = item.item.quantity_in_words, item.item.quantity
        if not is_number_in_words(text, number, facts.inputs.language):
            fault = "does not repeat the quantity" if text.strip() else "is missing"
            message = f"{item.drug.label} is controlled, and its quantity in words {fault}."
            read = {"rule": "words", "item": item.code, "words": text, "number": f"{number.normalize():f}"}
            yield self.finding(Severity.BLOCKING, [item.line], message, read)
