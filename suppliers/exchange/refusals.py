"""Refusals of documents for other systems."""

from core.errors import Unprocessable


class DocumentIncomplete(Unprocessable):
    """The document lacks what its profile requires; `errors` names each."""

    code = "document_incomplete"
    title = "The document lacks what its profile requires."
