"""The route of administration against the dose form."""

from collections.abc import Iterator
from typing import Final

from prescriptions.validation.facts import Facts
from prescriptions.validation.issues import Finding, Severity

from .registry import ClinicalRule, register

# Routes by their names and their codes of SNOMED CT. Source: FHIR R4, value set route-codes.
_ROUTES: Final[dict[str, str]] = {
    name: route
    for route, names in {
        "oral": "oral|po|per os|by mouth|oral route|26643006",
        "sublingual": "sublingual|sl|sublingual route|37839007",
        "buccal": "buccal|buccal route|54471007",
        "intravenous": "intravenous|iv|intravenous route|47625008",
        "intramuscular": "intramuscular|im|intramuscular route|78421000",
        "subcutaneous": "subcutaneous|sc|subcut|subcutaneous route|34206005",
        "intradermal": "intradermal|intradermal route|372464004",
        "intrathecal": "intrathecal|intrathecal route|72607000",
        "intra-articular": "intra-articular|intra-articular route|12130007",
        "inhalation": "inhalation|inhaled|respiratory|respiratory tract route|447694001",
        "nasal": "nasal|intranasal|nasal route|46713006",
        "ophthalmic": "ophthalmic|ocular|ophthalmic route|54485002",
        "otic": "otic|auricular|otic route|10547007",
        "topical": "topical|cutaneous|topical route|6064005",
        "transdermal": "transdermal|transdermal route|45890007",
        "rectal": "rectal|pr|per rectum|rectal route|37161004",
        "vaginal": "vaginal|pv|per vagina|vaginal route|16857009",
        "intrauterine": "intrauterine|intrauterine route|58751007",
    }.items()
    for name in names.split("|")
}
_INJECTED: Final = frozenset(
    {"intravenous", "intramuscular", "subcutaneous", "intradermal", "intrathecal", "intra-articular"}
)
# Words of dose forms, and the routes they are made for; the first that a form contains decides.
_FORMS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("intrauterine", frozenset({"intrauterine"})),
    ("vaginal", frozenset({"vaginal"})),
    ("rectal", frozenset({"rectal"})),
    ("suppository", frozenset({"rectal", "vaginal"})),
    ("ophthalmic", frozenset({"ophthalmic"})),
    ("eye", frozenset({"ophthalmic"})),
    ("otic", frozenset({"otic"})),
    ("nasal", frozenset({"nasal"})),
    ("inhal", frozenset({"inhalation"})),
    ("nebuli", frozenset({"inhalation"})),
    ("transdermal", frozenset({"transdermal"})),
    ("patch", frozenset({"transdermal", "topical"})),
    ("mucosal spray", frozenset({"sublingual", "buccal", "oral"})),
    ("implant", frozenset({"subcutaneous"})),
    ("inject", _INJECTED),
    ("syringe", _INJECTED),
    ("infusion", _INJECTED),
    ("sublingual", frozenset({"sublingual", "buccal"})),
    ("buccal", frozenset({"buccal", "sublingual"})),
    ("tablet", frozenset({"oral", "sublingual", "buccal"})),
    ("capsule", frozenset({"oral"})),
    ("lozenge", frozenset({"oral", "buccal"})),
    ("syrup", frozenset({"oral"})),
    ("oral", frozenset({"oral"})),
    *((form, frozenset({"topical"})) for form in ("cream", "ointment", "lotion", "topical", "shampoo", "gel")),
)


def canonical_route(route: str) -> str:
    """Return the platform's name of a route, given by name, abbreviation or code; "" if it is unknown."""
    return _ROUTES.get(" ".join(route.casefold().split()), "")


def same_route(one: str, other: str) -> bool:
    """Whether two routes are one, however they are written."""
    return (canonical_route(one) or one.casefold()) == (canonical_route(other) or other.casefold())


def routes_of_form(form: str) -> frozenset[str]:
    """Return the routes that a dose form is made for; none if the form is unknown."""
    told = form.casefold()
    return next((routes for word, routes in _FORMS if word in told), frozenset())


@register
class RouteForm(ClinicalRule):
    """The route does not fit the dose form."""

    code = "route.form"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item and route."""
        for item in facts.prescribed:
            valid = routes_of_form(item.form)
            given = sorted({str(dosage.get("route") or "") for dosage in item.item.dosage} or {""})
            for named in given:
                route = canonical_route(named)
                if not valid:
                    message = "Not evaluated: the dose form is missing or unknown."
                    yield self.not_evaluated("unknown_form", message, [item.line])
                elif not route:
                    message = "Not evaluated: the route is missing or unknown."
                    yield self.not_evaluated("unknown_route", message, [item.line])
                elif route not in valid:
                    message = f"The {route} route does not fit the form {item.form} of {item.drug.label}."
                    yield self.finding(
                        Severity.HIGH, [item.line], message, {"item": item.code, "form": item.form, "route": route}
                    )
