"""Which price holds, among given ones: the order of precedence, tiers, caps, rules, promotions, and the trace."""

from decimal import Decimal
from itertools import product
from uuid import UUID

import pytest

from suppliers.pricing.adjustments import ACTIONS, Adjustments
from suppliers.pricing.amounts import line_total, shown, tax_of
from suppliers.pricing.candidates import Adjustment, Candidate, Line, Promotion, Rule, Source, Tier
from suppliers.pricing.resolution import currencies_of, list_price_of, resolve_price
from suppliers.terms.states import ActionType

TODAY = "2026-03-01"


def number(value: int) -> str:
    return str(UUID(int=value))


def tiers(*steps: tuple[int, str]) -> list[Tier]:
    return [Tier(least, Decimal(price)) for least, price in steps]


OFFER = Candidate(Source.OFFER, number(1), 3, "EUR", 1, tiers((1, "5.00"), (10, "4.5")))
OLD = Candidate(Source.LIST_PRICE, number(2), 1, "EUR", 1, tiers((1, "6.00")), "2026-01-01")
NEW = Candidate(Source.LIST_PRICE, number(3), 1, "EUR", 10, tiers((5, "55")), "2026-02-01")
CROWNS = Candidate(Source.LIST_PRICE, number(4), 1, "NOK", 1, tiers((1, "60")), "2026-01-01")
AGREED = Candidate(
    Source.CONTRACT, number(5), 2, "EUR", 1, tiers((10, "3.90")), "2026-01-01", "2026-07-01", (0, 0, 0), left=100
)
FIVE_OFF = Candidate(
    Source.CONTRACT, number(6), 1, "EUR", 1, [Tier(1, None, Decimal(5))], "2026-01-01", "2026-07-01", (0, 1, 0)
)
LISTED = Candidate(Source.PRICE_LIST, number(7), 1, "EUR", 1, tiers((1, "5.50")), rank=(3, -10), name="Hospitals")


def rule(code: str, action: str, value: str, *, exclusive: bool = False, priority: int = 0, **terms: object) -> Rule:
    held = Adjustment(number(100 + ord(code[0])), code, 1, code, priority, action, Decimal(value), **terms)  # type: ignore[arg-type]
    return Rule(held, exclusive=exclusive)


def promotion(code: str, action: str, value: str, **more: object) -> Promotion:
    held = Adjustment(number(200 + ord(code[0])), code, 1, code, 0, action, Decimal(value), applies_to_offers=True)
    return Promotion(held, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("candidates", "quantity", "currency", "source", "price"),
    [
        ([OLD, OFFER], 1, "EUR", 1, "5.00"), ([OLD, OFFER], 9, "EUR", 1, "5.00"), ([OLD, OFFER], 10, "EUR", 1, "4.50"),
        ([OLD, NEW], 5, "EUR", 3, "55.00"), ([OLD, NEW], 4, "EUR", 2, "6.00"), ([OFFER, CROWNS], 1, "NOK", 4, "60.00"),
        ([OFFER._replace(tiers=tiers((2, "1"))), OLD], 1, "EUR", 2, "6.00"),
        ([OLD, OLD._replace(id=number(9), tiers=tiers((1, "5")))], 1, "EUR", 9, "5.00"),
        ([OLD, OLD._replace(id=number(9))], 1, "EUR", 2, "6.00"),
        ([OFFER, OLD, AGREED], 10, "EUR", 5, "3.90"), ([OFFER, OLD, AGREED], 9, "EUR", 1, "5.00"),
        ([OLD, AGREED], 101, "EUR", 2, "6.00"), ([OLD, AGREED, FIVE_OFF], 9, "EUR", 6, "5.70"),
        ([LISTED, OLD], 1, "EUR", 7, "5.50"), ([LISTED, OFFER], 1, "EUR", 1, "5.00"),
        ([LISTED, LISTED._replace(id=number(8), rank=(0, 0), tiers=tiers((1, "9")))], 1, "EUR", 8, "9.00"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turn", [1, -1])
def test_first_that_fits_holds_in_whatever_order_they_come(candidates, quantity, currency, source, price, turn):
    found = resolve_price(candidates[::turn], Line(quantity, currency, TODAY)).price
    assert found is not None
    assert (found.source_id, shown(found.unit_price)) == (number(source), price)


def test_trace_says_why_the_others_do_not_hold():
    found = resolve_price([OLD, CROWNS, NEW, OFFER], Line(1, "EUR", TODAY)).price
    assert found is not None
    assert [(one["step"], UUID(one["source_id"]).int, one["matched"], one["reason"]) for one in found.trace] == [
        (1, 1, True, None), (2, 3, False, "below_min_quantity"), (3, 2, False, "lower_precedence"),
        (4, 4, False, "other_currency"),
    ]  # fmt: skip
    assert [one["unit_price"] for one in found.trace] == ["5.00", None, "6.00", "60.00"]


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (CROWNS, "other_currency"), (NEW, "below_min_quantity"), (AGREED, "below_min_quantity"), (FIVE_OFF, "no_list_price"),
        (OLD._replace(valid_from="2026-03-02"), "not_yet_valid"), (OLD._replace(valid_to=TODAY), "expired"),
        (AGREED._replace(left=1, tiers=tiers((1, "1"))), "cap_exceeded"), (OFFER._replace(refusal="not_visible"), "not_visible"),
        (LISTED._replace(refusal="not_assigned"), "not_assigned"),
    ],
)  # fmt: skip
def test_nothing_fits(candidate, reason):
    found = resolve_price([candidate], Line(1, "EUR", TODAY, base_units=2))
    assert found.price is None
    assert [(one["matched"], one["reason"]) for one in found.trace] == [(False, reason)]


@pytest.mark.parametrize(("line", "exhausted"), [(Line(101, "EUR", TODAY), False), (Line(9, "EUR", TODAY), False)])
def test_named_agreement_goes_first_and_does_not_fall_through_its_cap(line, exhausted):
    other = AGREED._replace(id=number(9), tiers=tiers((1, "1.00")), left=None)
    assert resolve_price([AGREED, other], line._replace(quantity=10, agreement_id=number(5))).price.source_id == number(
        5
    )
    assert resolve_price([AGREED, other], line).exhausted is exhausted
    found = resolve_price([AGREED, other, OLD], line._replace(quantity=101, agreement_id=number(5)))
    assert (found.price, found.exhausted) == (None, True)
    assert [one["reason"] for one in found.trace] == ["cap_exceeded", "lower_precedence", "lower_precedence"]


@pytest.mark.parametrize(
    ("candidate", "rules", "price"),
    [
        (OLD, [rule("a", "percent", "5")], "5.70"), (OLD, [rule("a", "amount_off", "7")], "0.00"),
        (OLD, [rule("a", "fixed_price", "4.1")], "4.10"), (OLD, [rule("a", "markup", "10")], "6.60"),
        (OLD, [rule("a", "percent", "50"), rule("b", "amount_off", "1")], "2.00"),
        (OLD, [rule("a", "percent", "50"), rule("b", "amount_off", "1", priority=1)], "2.50"),
        (OLD, [rule("a", "percent", "50", exclusive=True), rule("b", "amount_off", "1")], "3.00"),
        (OLD, [rule("a", "percent", "50", floor=Decimal(4))], "4.00"), (OLD, [rule("a", "percent", "50", floor=Decimal(9))], "6.00"),
        (OFFER, [rule("a", "percent", "50")], "5.00"), (OFFER, [rule("a", "percent", "50", applies_to_offers=True)], "2.50"),
        (FIVE_OFF, [rule("a", "percent", "50", applies_to_offers=True)], "5.70"),
        (OLD, [rule("a", "percent", "50", currencies=["NOK"])], "6.00"), (OLD, [rule("a", "percent", "50", min_quantity=2)], "6.00"),
        (OLD, [rule("a", "percent", "50", min_amount=Decimal("6.00"))], "3.00"),
        (OLD, [rule("a", "percent", "50", min_amount=Decimal("6.01"))], "6.00"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turn", [1, -1])
def test_rules_adjust_by_priority_and_code(candidate, rules, price, turn):
    given = [candidate, OLD] if candidate is FIVE_OFF else [candidate]
    found = resolve_price(given, Line(1, "EUR", TODAY), Adjustments(rules[::turn])).price
    assert found is not None
    assert shown(found.unit_price) == price


@pytest.mark.parametrize(
    ("promotions", "price", "redeemed"),
    [
        ([promotion("a", "percent", "10"), promotion("b", "amount_off", "1")], "5.00", {"b": "2.00"}),
        ([promotion("a", "percent", "10", combinable=True), promotion("b", "amount_off", "1", combinable=True)], "4.40",
         {"a": "1.20", "b": "2.00"}),
        ([promotion("a", "percent", "10"), promotion("b", "percent", "10", combinable=True)], "5.40", {"b": "1.20"}),
        ([promotion("a", "percent", "10", state="ended")], "6.00", {}), ([promotion("a", "markup", "10")], "6.00", {}),
        ([promotion("a", "percent", "10", redemptions_left=0)], "6.00", {}),
        ([promotion("a", "percent", "10", budget_left=Decimal("1.19"), budget_currency="EUR")], "6.00", {}),
        ([promotion("a", "percent", "10", budget_left=Decimal("1.20"), budget_currency="EUR")], "5.40", {"a": "1.20"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turn", [1, -1])
def test_promotion_that_is_best_for_the_buyer_holds(promotions, price, redeemed, turn):
    found = resolve_price([OLD], Line(2, "EUR", TODAY), Adjustments((), promotions[::turn])).price
    assert found is not None
    assert shown(found.unit_price) == price
    assert dict(found.redeemed) == {number(200 + ord(code)): Decimal(amount) for code, amount in redeemed.items()}


@pytest.mark.parametrize(("applies", "price"), [(False, "5.70"), (True, "2.85")])
def test_agreed_prices_are_promoted_only_where_the_promotion_says_so(applies, price):
    half = promotion("a", "percent", "50", applies_to_contracts=applies)
    found = resolve_price([FIVE_OFF, OLD], Line(1, "EUR", TODAY), Adjustments((), [half])).price
    assert found is not None
    assert shown(found.unit_price) == price


def test_no_promotion_goes_below_the_floor_of_a_rule():
    rules, promotions = [rule("a", "percent", "10", floor=Decimal("5.00"))], [promotion("b", "percent", "90")]
    found = resolve_price([OLD], Line(1, "EUR", TODAY), Adjustments(rules, promotions)).price
    assert found is not None
    assert shown(found.unit_price) == "5.00"
    assert [(one["source_type"], one["unit_price"]) for one in found.trace] == [
        ("list_price", "6.00"), ("rule", "5.40"), ("promotion", "5.00"),
    ]  # fmt: skip


@pytest.mark.parametrize("least", [None, Decimal("13.00")])
def test_lines_by_one_object_are_judged_as_by_new_ones(least):
    rules = [
        rule("a", "percent", "5", min_quantity=2), rule("b", "amount_off", "1", currencies=["NOK"], min_amount=least),
        rule("c", "percent", "9")._replace(valid_from="2026-03-02"),
    ]  # fmt: skip
    promotions = [promotion("d", "percent", "50", applies_to_contracts=True), promotion("e", "amount_off", "1")]
    kept, told = Adjustments(rules, promotions), []
    for given, quantity, currency, day in product(
        ([OLD, CROWNS], [LISTED, OLD, OFFER], [AGREED]), (1, 3, 10), ("EUR", "NOK"), (TODAY, "2026-03-02")
    ):
        line = Line(quantity, currency, day)
        alone = resolve_price(given, line, Adjustments(rules, promotions))
        assert resolve_price(given, line, kept) == resolve_price(given, line, kept) == alone
        told.append(alone.price and alone.price.unit_price)
    assert len(set(told)) > 8


def test_currencies_begin_with_the_preferred_one():
    assert [*currencies_of([CROWNS, OFFER], "USD")] == ["EUR", "NOK"]
    assert [*currencies_of([CROWNS, OFFER], "NOK")] == ["NOK", "EUR"]


def test_list_price_is_that_of_the_product():
    assert list_price_of([LISTED, OFFER, OLD, NEW], Line(5, "EUR", TODAY)) == (Decimal(55), 10)
    assert list_price_of([LISTED, OFFER], Line(5, "EUR", TODAY)) is None


@pytest.mark.parametrize(
    ("price", "quantity", "base", "currency", "total"),
    [
        ("0.005", 1, 1, "EUR", "0.01"), ("0.004999", 1, 1, "EUR", "0.00"), ("10", 1, 3, "EUR", "3.33"), ("0.5", 1, 1, "JPY", "1"),
        ("1.0005", 1, 1, "KWD", "1.001"), ("1.00005", 1, 1, "CLF", "1.0001"), ("9999999999999.999999", 9_000_000_000, 1, "EUR",
         "89999999999999999991000.00"),
    ],
)  # fmt: skip
def test_line_totals_are_rounded_half_up_in_the_currencys_decimals(price, quantity, base, currency, total):
    assert str(line_total(Decimal(price), quantity, base, currency)) == total


@pytest.mark.parametrize(
    ("net", "rate", "currency", "tax"),
    [
        ("10.50", "19", "EUR", "2.00"),
        ("2.50", "5", "EUR", "0.13"),
        ("50", "19", "JPY", "10"),
        ("1.005", "10", "KWD", "0.101"),
    ],
)
def test_tax_is_rounded_half_up(net, rate, currency, tax):
    assert str(tax_of(Decimal(net), Decimal(rate), currency)) == tax


def test_every_action_of_a_rule_can_be_applied():
    assert set(ACTIONS) == set(ActionType.values)
