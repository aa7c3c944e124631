"""Codes of UCUM: the official examples, every place of a quantity, ucumvert as a second opinion, long texts."""

import csv
import random
import time
from pathlib import Path

import pytest

from fhir_api.generation import ucum as generation
from fhir_api.generation.definitions import DEFINITIONS
from fhir_api.validation import ucum, validate

from .resources import observation, patient

URL = "http://example.org/extension"
FAMILIAR = (
    *(
        "mg",
        "mm[Hg]",
        "/min",
        "%",
        "Cel",
        "[degF]",
        "kg/m2",
        "10*3/uL",
        "10^3/uL",
        "[IU]/L",
        "mL/min/{1.73_m2}",
        "{score}",
    ),
    *(
        "1",
        "a",
        "h",
        "mo",
        "mmol/L",
        "meq/L",
        "m.s-1",
        "m+2",
        "4.[pi].10*-7.N/A2",
        "g/(8.h){shift}",
        "100/{cells}",
        "%[slope]",
    ),
    *("dar", "B[SPL]", "dB", "[arb'U]", "[in_i'Hg]", "mCel", "kbit", "ug{creat}/d", "((m))", "/m{a}", "l/(min.m2)"),
)
WRONG = (
    *(
        "ml/",
        "lbs",
        "years",
        "in",
        "mcg",
        "mEq",
        "ea",
        "drop",
        "Mm[hg]",
        "kkg",
        "k[lb_av]",
        "2mg",
        "m0",
        "007",
        "1.0",
    ),
    *(
        "//m",
        "m//s",
        ".m",
        "m.",
        "(m",
        "m)",
        "()",
        "m{a}2",
        "(m)2",
        "{a b}",
        "{é}",
        "{a",
        "a}",
        "[m",
        "m]",
        "{{a}}",
        "10-3",
    ),
    *("m s", "µg", "²", "m\u00b2", "-m", "+", "*", "10**3", "k", "da", "Ki", "%%"),
)
QUANTITY = {"value": 1, "unit": "a", "system": ucum.SYSTEM, "code": "mcg"}
WHERE = {
    "Quantity": (
        observation(valueQuantity=QUANTITY),
        "Observation.value.ofType(Quantity).code",
    ),
    "component": (
        observation(component=[{"code": {"text": "a"}, "valueQuantity": QUANTITY}]),
        "Observation.component[0].value.ofType(Quantity).code",
    ),
    "Range": (observation(valueRange={"high": QUANTITY}), "Observation.value.ofType(Range).high.code"),
    "Ratio": (
        observation(valueRatio={"numerator": QUANTITY, "denominator": {"value": 1}}),
        "Observation.value.ofType(Ratio).numerator.code",
    ),
    "SampledData": (
        observation(valueSampledData={"origin": QUANTITY, "period": 1, "dimensions": 1}),
        "Observation.value.ofType(SampledData).origin.code",
    ),
    "SimpleQuantity": (
        observation(referenceRange=[{"low": QUANTITY}]),
        "Observation.referenceRange[0].low.code",
    ),
    **{
        f"an extension's {kind}": (
            patient(extension=[{"url": URL, f"value{kind}": {**QUANTITY, "code": "{a b}"}}]),
            f"Patient.extension[0].value.ofType({kind}).code",
        )
        for kind in ("Age", "Distance", "Duration", "Quantity")
    },
    "a dose": (
        patient(extension=[{"url": URL, "valueDosage": {"doseAndRate": [{"doseQuantity": QUANTITY}]}}]),
        "Patient.extension[0].value.ofType(Dosage).doseAndRate[0].dose.ofType(Quantity).code",
    ),
    "an extension of a value": (
        patient(birthDate="2000", _birthDate={"extension": [{"url": URL, "valueQuantity": QUANTITY}]}),
        "Patient.birthDate.extension[0].valueQuantity.code",
    ),
    "a contained resource": (
        patient(
            contained=[observation(id="o", valueQuantity=QUANTITY)],
            extension=[{"url": URL, "valueReference": {"reference": "#o"}}],
        ),
        "Patient.contained[0].valueQuantity.code",
    ),
}


def library():
    """The parser of ucumvert, and the folder of what UCUM publishes beside it."""
    parser = pytest.importorskip("ucumvert.parser")
    return parser.get_ucum_parser(), Path(parser.__file__).parent / "vendor"


def published():
    """UCUM's table of examples: of 848 codes one, Torr, is not in its table of units."""
    with (library()[1] / "ucum_examples.tsv").open(encoding="utf-8") as file:
        return [row[1] for row in list(csv.reader(file, delimiter="\t"))[1:]]


def is_parsed(parser, code):
    from lark.exceptions import LarkError

    try:
        parser.parse(code)
    except LarkError:
        return False
    return True


@pytest.mark.parametrize("code", FAMILIAR)
def test_code_of_ucum_is_accepted(code):
    assert ucum.is_code(code)


@pytest.mark.parametrize("code", WRONG)
def test_text_that_is_no_code_is_refused(code):
    assert not ucum.is_code(code)


@pytest.mark.parametrize("where", WHERE)
def test_unit_is_judged_wherever_a_quantity_stands(where):
    resource, expression = WHERE[where]

    issues = validate(resource)

    assert [(issue.expression, issue.code) for issue in issues] == [(expression, "code-invalid")]


def test_codes_of_other_systems_and_units_of_none_are_not_judged():
    for members in ({"system": "http://example.org"}, {"system": "http://unitsofmeasure.org/v1"}):
        assert validate(observation(valueQuantity={**QUANTITY, **members})) == []
    assert validate(observation(valueQuantity={"value": 1, "unit": "mcg", "system": ucum.SYSTEM})) == []


def test_published_examples_are_codes():
    codes = published()

    assert len(codes) > 800
    assert [code for code in codes if not ucum.is_code(code)] == ["Torr"]


def test_ucumvert_agrees():
    parser, _ = library()
    chance = random.Random(14)
    pieces = (
        ".",
        "/",
        "(",
        ")",
        "{a}",
        "{}",
        "2",
        "-1",
        "+3",
        "10*",
        "0",
        "10",
        "mg",
        "dL",
        "[IU]",
        "Cel",
        "x",
        "[",
        "{",
        "é",
    )
    codes = published()
    made = {"".join(chance.choices(pieces, k=chance.randint(1, 6))) for _ in range(1_500)}
    for code in chance.sample(codes, 500):
        place = chance.randrange(len(code))
        made.add(code[:place] + chance.choice(("", "a", "/", "{", ")", "2")) + code[place + 1 :])
    made.discard("")
    told = {code: ucum.is_code(code) for code in made}

    assert sum(told.values()) > 150
    # By the grammar of UCUM a factor has no exponent; ucumvert reads "10-1" as one.
    assert [code for code, is_code in told.items() if is_code and not is_parsed(parser, code)] == []
    assert [
        code
        for code, is_code in told.items()
        if not is_code and is_parsed(parser, code) and not any(sign in code for sign in "+-")
    ] == []


def test_committed_table_is_what_the_generator_writes():
    essence = library()[1] / "ucum-essence.xml"

    assert generation.written(essence.read_bytes()) == (DEFINITIONS / "ucum.json").read_bytes()


@pytest.mark.parametrize(
    "text_of",
    [
        lambda size: "m." * size,
        lambda size: "(" * size * 2,
        lambda size: "(" * (size // 2) + "m" + ")" * (size // 2),
        lambda size: "[" * size * 2,
        lambda size: "1" * size * 2,
        lambda size: "{" * size * 2,
        lambda size: "a1" * size,
    ],
)
def test_long_text_is_judged_in_linear_time(text_of):
    """Eight times as long takes 8 times the processor's time, or 25 beyond its caches, however busy the machine is; quadratic is 64."""
    assert _seconds(text_of(100_000)) < 45 * max(_seconds(text_of(12_500)), 0.002)


def _seconds(text):
    took = []
    for number in range(5):
        began = time.process_time()
        ucum.is_code(text + "m" * number)  # what was read is kept
        took.append(time.process_time() - began)
    return min(took)
