"""Jobs on the wire."""

from api import shapes
from api.shapes import Shape
from organizations.models import Job, JobState

JOB = Shape(
    name="job",
    model=Job,
    fields=(
        shapes.uuid("id"),
        shapes.text("kind"),
        shapes.choice("state", JobState.values),
        shapes.computed(
            "progress",
            "json_build_object('done', t.done, 'total', t.total)",
            {
                "type": "object",
                "required": ["done", "total"],
                "properties": {"done": {"type": "integer"}, "total": {"type": ["integer", "null"]}},
            },
        ),
        shapes.computed(
            "result",
            "CASE WHEN t.result_href <> '' THEN json_build_object('href', t.result_href) END",
            {"type": ["object", "null"]},
        ),
        shapes.document(
            "error",
            {"type": ["object", "null"], "properties": {"code": {"type": "string"}, "message": {"type": "string"}}},
        ),
        shapes.instant("created_at"),
        shapes.instant("started_at").nullable(),
        shapes.instant("finished_at").nullable(),
        shapes.instant("updated_at"),
    ),
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-0000000000d1",
        "kind": "provision_tenant",
        "state": "running",
        "progress": {"done": 3, "total": 5},
        "result": None,
        "error": None,
        "created_at": "2026-01-05T08:00:00.000Z",
        "started_at": "2026-01-05T08:00:01.000Z",
        "finished_at": None,
        "updated_at": "2026-01-05T08:00:02.000Z",
    },
)
