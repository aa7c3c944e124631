"""The states of files and the choices of their fields. Source: contract, supply-shelf.md "Files"."""

from typing import Final

from django.db.models import TextChoices

MOST_BYTES: Final = 20 * 1_048_576
MOST_MADE_BYTES: Final = 1_073_741_824  # of a file that the platform writes


class FileStatus(TextChoices):
    """The status of a file; only a ready one has a content that can be read."""

    AWAITING_UPLOAD = "awaiting_upload"
    SCANNING = "scanning"
    READY = "ready"
    REJECTED = "rejected"


class Purpose(TextChoices):
    """What a file is for; it decides which types are accepted."""

    PRODUCT_IMAGE = "product_image"
    PRODUCT_DOCUMENT = "product_document"
    CERTIFICATE = "certificate"
    SAFETY_SHEET = "safety_sheet"
    INVOICE = "invoice"
    DELIVERY_DOCUMENT = "delivery_document"
    TEMPERATURE_LOG = "temperature_log"
    REPORT = "report"
    MESSAGE = "message"


class Visibility(TextChoices):
    """Who may read a file: its tenant, also the other party of a document, also who may see a product or an offer."""

    PRIVATE = "private"
    COUNTERPARTY = "counterparty"
    CATALOG = "catalog"


class ResourceType(TextChoices):
    """What a file can be bound to."""

    PRODUCT = "product"
    OFFER = "offer"
    ORDER = "order"
    DELIVERY = "delivery"
    INVOICE = "invoice"
    RETURN = "return"
    SUPPLIER = "supplier"
    MESSAGE = "message"
    AGREEMENT = "agreement"


class Rejection(TextChoices):
    """Why a file was rejected."""

    UPLOAD_EXPIRED = "upload_expired"
    WRONG_SIZE = "wrong_size"
    WRONG_CONTENT = "wrong_content"
    UNSUPPORTED_TYPE = "unsupported_type"
    MALWARE = "malware"
    STAFF = "staff"


OPEN: Final = (FileStatus.AWAITING_UPLOAD.value, FileStatus.SCANNING.value)
HANDING_OVER: Final = (
    ResourceType.ORDER.value,
    ResourceType.DELIVERY.value,
    ResourceType.INVOICE.value,
    ResourceType.RETURN.value,
    ResourceType.MESSAGE.value,
    ResourceType.AGREEMENT.value,
)
EVIDENCE: Final = (
    ResourceType.DELIVERY.value,
    ResourceType.INVOICE.value,
    ResourceType.RETURN.value,
    ResourceType.MESSAGE.value,
)
