"""Broken official examples of the further types: each has the issue that R4's definitions ask for, at its element."""

import json
from collections import Counter

import pytest

from fhir_api.resources.types import NUMBERS
from fhir_api.validation import validate
from tests.fhir_api import data

from .breaking import RULES, WAYS, cases
from .test_mutations import CODES, assert_told

LEAST = {  # cases of each way, so that a change of the walk over the examples cannot empty a test
    "unknown element": 1_000,
    "missing element": 400,
    "wrong code": 250,
    "wrong primitive": 1_500,
    "wrong target": 250,
    "contained": 300,
    "broken invariant": 50,
}


@pytest.mark.parametrize("way", WAYS)
def test_broken_example_has_its_issue(way):
    found = list(cases(way))
    silent = []
    for case in found:
        issues = validate(case.resource)
        assert_told(issues)
        told = [(issue.expression, issue.code, issue.details) for issue in issues if issue.severity == "error"]
        if (case.expression, case.code, case.rule) not in told:
            silent.append((case.name, case.code, told[:3]))

    assert silent == []
    assert len(found) >= LEAST[way]


def test_cases_are_many_and_of_every_type_and_code():
    found = [case for way in WAYS for case in cases(way)]
    types = Counter(case.resource["resourceType"] for case in found)

    assert len(found) >= 600
    assert {case.code for case in found} == CODES
    assert {case.rule for case in found} >= RULES | {"dom-2", "dom-3", "dom-4", "dom-5"}
    examples = {json.loads(line)["resourceType"] for line in data.lines("r4-more-examples.ndjson.gz")}
    assert set(types) == examples <= set(NUMBERS)
