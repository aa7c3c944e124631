"""Patterns: what they match, what they suggest."""

import pytest

from webhooks import patterns

KNOWN = ["product.created", "product.updated", "order.placed", "fhir.Patient.created"]


@pytest.mark.parametrize(
    ("pattern", "event", "expected"),
    [
        ("product.created", "product.created", True),
        ("product.created", "product.updated", False),
        ("product.*", "product.updated", True),
        ("product.*", "product_group.updated", False),
        ("product.*", "product", False),
        ("fhir.*", "fhir.Patient.created", True),
        ("fhir.Patient.*", "fhir.Patient.created", True),
        ("fhir.Patient.*", "fhir.PatientX.created", False),
        ("*", "anything.at_all", True),
    ],
)
def test_matches_follows_the_pattern(pattern, event, expected):
    assert patterns.matches(pattern, event) is expected


def test_check_keeps_order_and_drops_repetition():
    assert patterns.check(["order.placed", "*", "product.*", "order.placed"], KNOWN) == [
        "order.placed",
        "*",
        "product.*",
    ]


@pytest.mark.parametrize(
    "pattern", ["", "product", "product.", "product.creatd", "**", "prod*", ".*", "Product.created", "*.created"]
)
def test_check_refuses_what_matches_nothing(pattern):
    with pytest.raises(patterns.UnknownEventPattern) as refused:
        patterns.check(["order.placed", pattern], KNOWN)
    assert [(error.field, error.code) for error in refused.value.errors] == [("events.1", "unknown_event_type")]


def test_check_names_near_matches():
    with pytest.raises(patterns.UnknownEventPattern) as refused:
        patterns.check(["product.creatd"], KNOWN)
    assert refused.value.extra["near_matches"]["product.creatd"][0] == "product.created"
    assert "Did you mean product.created" in refused.value.errors[0].message
