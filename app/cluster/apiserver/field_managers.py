"""The names of field managers: which are valid, and what a user agent stands for.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/validation (ValidateFieldManager, ValidateManagedFields) and
apiserver/pkg/endpoints/handlers/create.go (managerOrUserAgent).
"""

from __future__ import annotations

from app.apimachinery.validation import ErrorKind, FieldError
from app.cluster.ownership import Owners

LONGEST = 128
_LONGEST_SUBRESOURCE = 256


def problems(name: str, field: str) -> list[FieldError]:
    """What is wrong with a manager's name."""
    errors = []
    if len(name.encode()) > LONGEST:
        errors.append(FieldError(field, ErrorKind.TOO_LONG, name, f"may not be more than {LONGEST} bytes"))
    place = 0
    for letter in name:
        if not letter.isprintable():
            told = f"invalid character U+{ord(letter):04X} (at position {place})"
            errors.append(FieldError(field, ErrorKind.INVALID, name, told))
        place += len(letter.encode())
    return errors


def of_owners(owners: Owners | None) -> list[FieldError]:
    """What is wrong with the names in managedFields that came with an object."""
    errors: list[FieldError] = []
    for index, owner in enumerate(owners or ()):
        errors += problems(owner.manager, f"metadata.managedFields[{index}].manager")
        if len(owner.subresource.encode()) > _LONGEST_SUBRESOURCE:
            told = f"may not be more than {_LONGEST_SUBRESOURCE} bytes"
            field = f"metadata.managedFields[{index}].subresource"
            errors.append(FieldError(field, ErrorKind.TOO_LONG, owner.subresource, told))
    return errors


def of_user_agent(text: str) -> str:
    """The manager that a user agent stands for: what is before its first slash."""
    name = "".join(letter for letter in text.partition("/")[0] if letter.isprintable())
    return name.encode()[:LONGEST].decode(errors="ignore")
