"""The roles' names for people."""

from __future__ import annotations

from collections.abc import Mapping

from app.progress.models import Role
from app.web.i18n import N_

ROLE_NAMES: Mapping[Role, str] = {
    Role.LEARNER: N_("Learner"),
    Role.GRADER: N_("Grader"),
    Role.INSTRUCTOR: N_("Instructor"),
    Role.ADMINISTRATOR: N_("Administrator"),
}
"""Role → its name, from the one that may least to the one that may most."""

AUTHORS = (Role.INSTRUCTOR, Role.ADMINISTRATOR)
"""Who may change exercises."""

GRADERS = (Role.GRADER, Role.INSTRUCTOR, Role.ADMINISTRATOR)
"""Who may see everybody's results."""
