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
         convert_to(CASE WHEN octet_length(rich.text) <= {LARGEST_BYTES} THEN rich.text
                         ELSE left(thin.text, -2) || '{_OMITTED}' END, 'UTF8')
  FROM stored
  CROSS JOIN (REPRESENTATION) AS found (text, version)
  CROSS JOIN LATERAL (SELECT convert_from(stored.body, 'UTF8') AS text) thin
  CROSS JOIN LATERAL (SELECT left(thin.text, strpos(thin.text, '{_OBJECT}') + {len(_OBJECT) - 1})
    || found.text || $11::text || '}}}}' AS text) rich
  WHERE EXISTS (
    SELECT 1 FROM webhooks_endpoint w WHERE w.tenant_id = $2::uuid AND w.active AND w.payload_mode = '{FULL}'
      AND {wanted.MATCHES.format(patterns="w.events", type="$5::text")}) RETURNING 1)"""


def whole(representation: str) -> str:
    """The part of the storing statement that writes the full payload behind the event it has `stored`."""
    return _WHOLE.replace("REPRESENTATION", representation)
