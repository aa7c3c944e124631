"""Full payloads: an event with its resource's representation as of then, for endpoints that ask for it.

PostgreSQL writes them with the event, in the same statement, and only where an active endpoint of the tenant wants them.
Kinds of facts whose resource holds patients' data, and those that no app represents, stay thin.
"""

from typing import Final

from . import wanted
from .envelope import LARGEST_BYTES

FULL: Final = "full"
# Nothing before it in an envelope can hold these characters unescaped, so they are found where they begin.
_OBJECT: Final = '"data":{"object":'
_OMITTED: Final = ',"object_omitted":"too_large"}}'

# $1 is the resource, $2 the tenant, as in every representation; $5 the type, $11 what comes behind the object.
_WHOLE: Final = f""",
whole AS (
  INSERT INTO webhooks_event_body (id, created_at, tenant_id, event_id, api_version, payload_mode, body)
  SELECT gen_random_uuid(), stored.created_at, stored.tenant_id, stored.id, stored.api_version, '{FULL}',
         CASE WHEN length(rich.body) <= {LARGEST_BYTES} THEN rich.body
              ELSE convert_to(left(thin.text, -2) || '{_OMITTED}', 'UTF8') END
  FROM stored
  CROSS JOIN (REPRESENTATION) AS found (text, version)
  CROSS JOIN LATERAL (SELECT convert_from(stored.body, 'UTF8') AS text) thin
  CROSS JOIN LATERAL (SELECT convert_to(left(thin.text, strpos(thin.text, '{_OBJECT}') + {len(_OBJECT) - 1})
    || found.text || $11::text || '}}}}', 'UTF8') AS body) rich
  WHERE EXISTS (
    SELECT FROM webhooks_endpoint w WHERE w.tenant_id = $2::uuid AND w.active AND w.payload_mode = '{FULL}'
      AND {wanted.MATCHES.format(patterns="w.events", type="$5::text")}))"""


def whole(representation: str) -> str:
    """The part of the storing statement that writes the full payload behind the event it has `stored`."""
    return _WHOLE.replace("REPRESENTATION", representation)
