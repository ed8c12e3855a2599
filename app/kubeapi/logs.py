"""Keep the labs' secrets out of logs: an access log writes the path, and the path carries the secret."""

from __future__ import annotations

import logging
import re
from typing import Any

_SECRET = re.compile(r"(/k/)[^/?#\s\"']+")


def without_secrets(text: str) -> str:
    """The text with every lab's secret replaced by three dots."""
    return _SECRET.sub(r"\1...", text)


class SecretFilter(logging.Filter):
    """Rewrites records before they are written: to be added where paths are logged, as in `uvicorn.access`."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always lets the record pass, without secrets."""
        if isinstance(record.msg, str):
            record.msg = without_secrets(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(_cleaned(value) for value in record.args)
        return True


def _cleaned(value: Any) -> Any:
    return without_secrets(value) if isinstance(value, str) else value
