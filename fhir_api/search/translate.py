"""Criteria into conditions, each type on the way held to what the request may see."""

from fhir_api.keys import constant
from fhir_api.smart import Access

from .access import within
from .conditions import Chained, Condition, Had, Link, Sought, flat
from .parse import Chain, Criterion, Leaf, Reverse
from .values import Context
from .values import condition as of_leaf


def condition(criterion: Criterion, context: Context, access: Access) -> Condition:
    """The condition that a criterion states.

    :raises InvalidSearch, UnsupportedSearch: a value or a modifier.
    """
    match criterion:
        case Leaf():
            return of_leaf(criterion, context)
        case Chain(parameter, ends):
            number = constant(parameter.number)
            return Chained(tuple(Link(number, _sought(name, end, context, access)) for name, end in ends))
        case Reverse(parameter, inner):
            return Had(Link(constant(parameter.number), _sought(parameter.type, inner, context, access)))


def _sought(type_name: str, criterion: Criterion, context: Context, access: Access) -> Sought:
    return Sought(type_name, (*flat(condition(criterion, context, access)), *within(access, type_name)))
