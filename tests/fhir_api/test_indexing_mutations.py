"""No valid resource stops the indexing: the official examples, changed at random places."""

import copy
import json
import random
from decimal import Decimal

import pytest

from fhir_api.entries import Entries
from fhir_api.indexing import index
from fhir_api.validation import validate

from . import data

TOLD = {"extension": [{"url": "http://example.org/told", "valueString": "elsewhere"}]}
TEXTS = [
    "2015", "9999-12-31", "0001-01-01", "0001-01-01T00:00:00+14:00", "2016-12-31T23:59:60Z", "a|b", "#", "x/y", "\u0130",
    "http://example.org/fhir/Patient/1/_history/2", "Patient/1/_history/1", "Group/1", "urn:oid:1.2.3",
]  # fmt: skip
NUMBERS = [Decimal("1e17"), Decimal("-0"), Decimal("0.00000000000000001"), 10**17, 0]


def places(value, path=()):
    """The paths of all members and list items."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if path or key not in ("resourceType", "text", "contained"):
            yield (*path, key)
            yield from places(inner, (*path, key))


def changed(resource, path, chance):
    """The resource with what stands at the path left out, told by an extension only, or replaced."""
    found = copy.deepcopy(resource)
    around = parent = found
    for key in path[:-1]:
        parent, around = around, around[key]
    key = path[-1]
    value = around[key]
    if isinstance(key, int):
        if isinstance(value, dict):
            around[key] = TOLD
        else:
            around[key] = None
            parent["_" + path[-2]] = [TOLD if n == key else None for n in range(len(around))]
    elif isinstance(value, dict):
        around[key] = TOLD
    elif isinstance(value, list) and isinstance(value[0], dict):
        around[key] = [TOLD]
    elif isinstance(value, list) or chance.random() < 0.3:
        del around[key]
    elif chance.random() < 0.4:
        around["_" + key] = TOLD
        del around[key]
    else:
        around[key] = (
            not value if isinstance(value, bool) else chance.choice(TEXTS if isinstance(value, str) else NUMBERS)
        )
    return found


@pytest.mark.parametrize("seed", range(2))
def test_valid_mutation_of_an_example_is_indexed(seed):
    chance = random.Random(seed)
    examples = [json.loads(line, parse_float=Decimal) for line in data.example_lines()]
    valid = 0

    for example in examples:
        paths = list(places(example))
        for path in chance.sample(paths, min(len(paths), 5)):
            once = changed(example, path, chance)
            for resource in (once, changed(once, chance.choice(list(places(once))), chance)):
                if not validate(resource):
                    valid += 1
                    assert isinstance(index(resource), Entries), json.dumps(resource, default=str)

    assert valid > 500
