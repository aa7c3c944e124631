"""Pages about problem types, at the address in a problem document's `type`. Source: RFC 9457 section 3.1.1."""

import inspect
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from core import errors

from .errors import problem_response, status_of

_ADVICE = {
    400: "Correct the request and send it again; `errors` names the invalid fields, if any.",
    401: "Send one valid credential: a bearer token or an API key. If it has expired, get a new one.",
    403: "The credential is valid but may not do this here. Ask an administrator of the tenant, or use another tenant.",
    404: "Check the id and X-Tenant-Id. What belongs to another tenant looks the same as what does not exist.",
    405: "Use one of the methods that the Allow header names.",
    406: "Accept application/json.",
    408: "Send the whole body faster, or over a better connection.",
    409: "Read the resource again, and repeat the change if it still makes sense.",
    410: "The resource was deleted. Where the interface offers a history, its earlier versions can still be read.",
    412: "Read the resource again and send its current ETag.",
    413: "Send less at once, or use the bulk operation.",
    415: "Send application/json.",
    422: "The request is well formed but cannot be carried out as it stands; `detail` and `errors` say why.",
    429: "Wait as long as Retry-After says, then repeat the request.",
    431: "Send fewer or shorter headers.",
    500: "Repeat the request with the same Idempotency-Key; if it fails again, report the request_id.",
    503: "Repeat the request after Retry-After, with the same Idempotency-Key.",
}
_OTHERWISE = "`detail` says what is wrong; report the request_id if that does not help."
_PAGE = (
    "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{code}</title></head>"
    "<body><h1>{title}</h1><p><code>{code}</code>, status {status}</p><p>{meaning}</p><p>{advice}</p></body></html>"
)


class UnknownProblem(errors.NotFound):
    """The service has no refusal with this code."""

    code = "unknown_problem"
    title = "There is no such problem type."


@dataclass(frozen=True, slots=True)
class Explanation:
    """One problem type in words."""

    type: str
    code: str
    status: int
    title: str
    meaning: str
    advice: str


def explanations() -> dict[str, Explanation]:
    """Explain every code of a refusal, in alphabetical order.

    If several classes share a code, the most general one explains it.
    """
    found: dict[str, Explanation] = {}
    for kind in _kinds(errors.PlatformError):
        found.setdefault(kind.code, _explain(kind))
    return dict(sorted(found.items()))


def _kinds(root: type[errors.PlatformError]) -> Iterator[type[errors.PlatformError]]:
    """Yield all subclasses, breadth first: the general ones before the special ones."""
    level = list(root.__subclasses__())
    while level:
        yield from level
        level = [below for kind in level for below in kind.__subclasses__()]


def _explain(kind: type[errors.PlatformError]) -> Explanation:
    status = status_of(kind)
    meaning = (inspect.getdoc(kind) or kind.title).partition("\n")[0]
    return Explanation(
        f"/problems/{kind.code}", kind.code, status, kind.title, meaning, _ADVICE.get(status, _OTHERWISE)
    )


@require_safe
def problem_list(_request: HttpRequest) -> HttpResponse:
    """Answer all problem types."""
    return JsonResponse({"data": [asdict(one) for one in explanations().values()]})


@require_safe
def problem_page(request: HttpRequest, code: str) -> HttpResponse:
    """Answer one problem type, as a page for browsers and as JSON for other clients."""
    found = explanations().get(code)
    if found is None:
        return problem_response(UnknownProblem(), request)
    if request.get_preferred_type(["application/json", "text/html"]) == "text/html":
        return HttpResponse(format_html(_PAGE, **asdict(found)))
    return JsonResponse({"data": asdict(found)})
