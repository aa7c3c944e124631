"""The bucket that files are kept in: django-storages' own, with short waits and addresses to which clients send contents."""

from typing import Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage
from storages.utils import clean_name

CONNECT_SECONDS = 3
READ_SECONDS = 10
TRIES = 2


class S3Store(S3Storage):  # type: ignore[misc]  # the library has no types
    """A bucket; `faults` are what its client raises when it does not answer."""

    faults = (Boto3Error, BotoCoreError, ClientError)

    def __init__(self, **options: Any) -> None:
        client = Config(
            s3={"addressing_style": options.get("addressing_style", "auto")},
            signature_version="s3v4",
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": TRIES},
        )
        super().__init__(client_config=client, **options)

    def signed_target(self, key: str, *, content_type: str, size: int, seconds: int) -> tuple[str, dict[str, str]]:
        """Return a signed address that takes one content of this type and size, and the headers to send with it."""
        address = self.bucket.meta.client.generate_presigned_url(
            "put_object",
            Params={
                "Bucket": self.bucket_name,
                "Key": self._normalize_name(clean_name(key)),
                "ContentType": content_type,
                "ContentLength": size,
            },
            ExpiresIn=seconds,
        )
        return address, {"Content-Type": content_type, "Content-Length": str(size)}
