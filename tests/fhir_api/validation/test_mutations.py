"""Whatever is done to an official example, validation answers: with issues that name elements of the resource, in bounded time."""

import copy
import re
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fhir_api.indexing import index
from fhir_api.outcomes import Issue
from fhir_api.reading import read_stored
from fhir_api.resources import written
from fhir_api.validation import validate

from .resources import examples, observation, synthea

pytestmark = pytest.mark.untraced

EXPRESSION = re.compile(r"[A-Z][A-Za-z]+((\.[A-Za-z][A-Za-z0-9]*(\.ofType\([A-Za-z0-9]+\))?)|\[[0-9]+\])*|")
CODES = {"structure", "required", "value", "code-invalid", "invariant"}
SECRET = "Xsecretx"
LONG = 50_000


def places(value, path=()):
    """Every place below a value, as a path."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def at(resource, path):
    for key in path:
        resource = resource[key]
    return resource


def put(value):
    """A mutator that puts a value in the place of another."""

    def mutate(holder, key, resource):
        holder[key] = copy.deepcopy(value)

    return mutate


def remove(holder, key, resource):
    del holder[key]


def rename(holder, key, resource):
    if isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)


def underscore(holder, key, resource):
    if isinstance(holder, dict):
        holder[f"_{key}"] = holder.pop(key)


def sibling(holder, key, resource):
    if isinstance(holder, dict):
        holder[f"_{key}"] = {"id": "a"}


def in_a_list(holder, key, resource):
    holder[key] = [holder[key]]


def in_an_object(holder, key, resource):
    holder[key] = {"value": holder[key]}


def out_of_a_list(holder, key, resource):
    if isinstance(holder[key], list) and holder[key]:
        holder[key] = holder[key][0]


def twice(holder, key, resource):
    if isinstance(holder[key], list):
        holder[key] = holder[key] * 2


def with_null(holder, key, resource):
    if isinstance(holder[key], list):
        holder[key] = [*holder[key], None]


def as_text(holder, key, resource):
    holder[key] = str(holder[key])


def upper(holder, key, resource):
    if isinstance(holder[key], str):
        holder[key] = holder[key].upper()


def itself(holder, key, resource):
    holder[key] = copy.deepcopy(resource)


def second_choice(holder, key, resource):
    if isinstance(holder, dict):
        holder["valueString"] = "a"
        holder["valueInteger"] = 1


def contained(holder, key, resource):
    resource["contained"] = [copy.deepcopy(resource)]


MUTATORS = {
    "remove": remove,
    "rename": rename,
    "underscore": underscore,
    "sibling": sibling,
    "in a list": in_a_list,
    "in an object": in_an_object,
    "out of a list": out_of_a_list,
    "twice": twice,
    "with null": with_null,
    "as text": as_text,
    "upper": upper,
    "itself": itself,
    "second choice": second_choice,
    "contained": contained,
    "null": put(None),
    "true": put(True),
    "empty text": put(""),
    "empty list": put([]),
    "empty object": put({}),
    "large integer": put(10**30),
    "large decimal": put(Decimal("1e999999")),
    "decimal": put(Decimal("1.50")),
    "half a character": put("\udc00"),
    "local reference": put({"reference": "#nothing"}),
    "no such day": put("2023-02-31"),
    "long text": put("a" * LONG),
    "long list": put([{"a": number} for number in range(2_000)]),
    "long name": put({"a" * LONG: 1}),
}


@pytest.fixture(scope="module")
def resources():
    return examples()


def assert_told(issues):
    for issue in issues:
        assert isinstance(issue, Issue)
        assert issue.code in CODES
        assert issue.diagnostics
        assert EXPRESSION.fullmatch(issue.expression)


def test_mutators_are_many():
    assert len(MUTATORS) >= 25


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=st.data())
def test_mutated_example_is_judged(resources, chosen):
    resource = copy.deepcopy(resources[chosen.draw(st.integers(0, len(resources) - 1))])
    for name in chosen.draw(st.lists(st.sampled_from(sorted(MUTATORS)), min_size=1, max_size=3)):
        found = list(places(resource))
        if found:
            path = found[chosen.draw(st.integers(0, len(found) - 1))]
            MUTATORS[name](at(resource, path[:-1]), path[-1], resource)

    issues = validate(resource)

    assert_told(issues)
    if not issues:
        assert read_stored(written(resource)) == resource
        assert index(resource)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(),
        lambda children: st.lists(children) | st.dictionaries(st.text(), children),
        max_leaves=20,
    )
)
def test_anything_in_the_place_of_an_element_is_judged(value):
    for name in ("name", "birthDate", "contained", "extension", "text", "_birthDate", "meta"):
        assert_told(validate({"resourceType": "Patient", name: copy.deepcopy(value)}))
        assert_told(validate({"resourceType": "Patient", name: [copy.deepcopy(value)]}))


@pytest.mark.parametrize("exponent", [400, -400, 999_999, -999_999, 10**15])
def test_number_beyond_all_measure_is_refused_at_its_place(exponent):
    resource = observation(valueQuantity={"value": Decimal((0, (1,), exponent))}, referenceRange=[{"text": "a"}])

    assert [(issue.expression, issue.code) for issue in validate(resource)] == [
        ("Observation.value.ofType(Quantity).value", "value")
    ]


def test_issues_never_repeat_a_value(resources):
    for example in [*resources, *synthea()[:300]]:
        kept = {"resourceType"}
        for path in list(places(example)):
            holder, key = at(example, path[:-1]), path[-1]
            if isinstance(holder.get(key) if isinstance(holder, dict) else holder[key], str) and key not in kept:
                holder[key] = f"{SECRET} {SECRET}"

        issues = validate(example)

        assert issues
        assert [issue for issue in issues if SECRET in f"{issue.diagnostics} {issue.expression} {issue.details}"] == []


@pytest.mark.parametrize(
    "letters", ["a", "0", " ", "/", "-", "+", "=", "A ", "0-", "00:", "\n", "é", "#", "<div>", "&"]
)
def test_long_texts_in_every_element_are_judged(letters):
    """Every expression is linear: the schema runs in an engine without backtracking."""
    text = letters * (LONG // len(letters))
    kinds = ("Base64Binary", "Canonical", "Code", "Date", "DateTime", "Id", "Instant", "Markdown", "Oid", "String")
    for kind in (*kinds, "Time", "Uri", "Url", "Uuid"):
        extension = {"url": "http://example.org", f"value{kind}": text}
        assert_told(validate({"resourceType": "Patient", "extension": [extension]}))
    reference = {"reference": text}
    narrative = {"status": "generated", "div": text}
    assert validate({"resourceType": "Patient", "managingOrganization": reference})
    assert validate({"resourceType": "Patient", "text": narrative})
    assert validate({"resourceType": "Patient", "managingOrganization": {"reference": f"urn:uuid:{text}"}})
    assert validate({"resourceType": "Patient", "managingOrganization": {"reference": f"urn:oid:1{text}"}})
