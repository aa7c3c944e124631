"""Django's handler; `config.front` asks it in a thread. WSGI servers and test tools call `application` as ever."""

import os

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import QueryDict
from django.http.response import HttpResponse, StreamingHttpResponse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)


_NO_QUERY = QueryDict("")


class Handler(WSGIHandler):
    """Django's handler, with a way in that leaves out what a server of its own has no use for."""

    def ask(self, environ: dict[str, object]) -> HttpResponse | StreamingHttpResponse:
        """Answer one request; no signals, no script prefix, no choice of address spaces by thread."""
        request = WSGIRequest(environ)
        if not environ["QUERY_STRING"]:
            request.GET = _NO_QUERY
        response: HttpResponse | StreamingHttpResponse = self._middleware_chain(request)  # type: ignore[attr-defined]
        response._resource_closers.append(request.close)  # type: ignore[union-attr]
        return response


application = Handler()
