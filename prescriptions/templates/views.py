"""HTTP of templates."""

from collections.abc import Sequence
from typing import ClassVar, Final

from api.operations import Operation
from api.sorts import ORDERING_FIELDS, SortBy
from core.actor import Actor
from core.conditions import Condition
from core.errors import VersionConflict
from organizations.public import LocationNotFound
from prescriptions.lifecycle.views import PrescriptionsViewSet

from .actions import archive_template, create_template, replace_template
from .filters import TemplateFilters
from .models import TemplateNameTaken
from .queries import VISIBLE, NotTheOwner, OwnTemplate
from .representations import TemplateOut
from .serializers import TemplateIn

_SCOPE: Final = "prescriptions.templates"


class TemplateViewSet(PrescriptionsViewSet):
    """The templates that the caller sees: his own, those of his locations, and those of the tenant."""

    serializer_class = TemplateOut
    filterset_class = TemplateFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("name", "name_sort"))
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List templates", "`search` finds beginnings of words of name, description and specialty.", scope=_SCOPE
        ),
        "create": Operation(
            "Create a template",
            "Quantity and dosage may be left open; a draft needs them.",
            scope=_SCOPE,
            body=TemplateIn,
            run=create_template,
            errors=(LocationNotFound, TemplateNameTaken),
        ),
        "retrieve": Operation("Get a template", scope=_SCOPE),
        "update": Operation(
            "Replace a template",
            "By its owner; one of the tenant also by a clinical lead.",
            scope=_SCOPE,
            body=TemplateIn,
            find=OwnTemplate(),
            run=replace_template,
            errors=(NotTheOwner, VersionConflict, LocationNotFound, TemplateNameTaken),
        ),
        "destroy": Operation(
            "Archive a template",
            "Its name is free again.",
            scope=_SCOPE,
            find=OwnTemplate(),
            run=archive_template,
            errors=(NotTheOwner, VersionConflict),
        ),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Keep what the caller sees."""
        return (VISIBLE,)

    def before_answer(self, actor: Actor, contents: Sequence[bytes]) -> None:
        """Write no access record: templates hold no patient's data."""
