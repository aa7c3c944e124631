"""Routes of viewsets: no trailing slash, ids are UUIDs, so that words never meet `{id}`."""

from rest_framework.routers import SimpleRouter


class Router(SimpleRouter):
    """DRF's router with the platform's settings; PUT is `update`, PATCH `partial_update`, DELETE `destroy`."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)
