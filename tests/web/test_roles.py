"""Every route of the staff asks who is there: found in the application itself, so that none is forgotten."""

import re

import pytest

from app.progress.models import Role
from app.web.routes import admin, author, grader

MATRIX = {
    author: {Role.INSTRUCTOR, Role.ADMINISTRATOR},
    grader: {Role.GRADER, Role.INSTRUCTOR, Role.ADMINISTRATOR},
    admin: {Role.ADMINISTRATOR},
}
ROUTES = [
    pytest.param(method, re.sub(r"\{\w+\}", "BYSTANDER", route.path), allowed, id=f"{method} {route.path}")
    for module, allowed in MATRIX.items()
    for route in module.router.routes
    for method in sorted(route.methods)
]


@pytest.fixture(scope="module")
def bystander(site):
    """Whom the routes are tried on: nobody who takes part."""
    return str(site.person().id)


@pytest.fixture(scope="module")
def people(site):
    """One of each role, a guest, and somebody unknown."""
    return {role: site.person(role) for role in Role} | {"guest": site.guest(), None: site.visitor()}


def test_the_staffs_routes_are_found():
    assert len(ROUTES) > 30


@pytest.mark.parametrize(("method", "path", "allowed"), ROUTES)
def test_a_route_lets_in_its_roles_and_nobody_else(people, bystander, method, path, allowed):
    for who, person in people.items():
        status = person.client.request(method, path.replace("BYSTANDER", bystander)).status_code
        if who is None:
            assert status == 401
        elif who not in allowed:
            assert status == 403, who
        else:
            assert status not in {401, 403}, who


@pytest.mark.parametrize(("method", "path", "allowed"), [route for route in ROUTES if route.values[0] != "GET"])
def test_no_route_carries_out_what_another_site_sends(people, bystander, method, path, allowed):
    headers = {"origin": "https://evil.example"}
    path = path.replace("BYSTANDER", bystander)
    for role in allowed:
        assert people[role].client.request(method, path, headers=headers).status_code == 403
