"""Promises about the repository itself: lock files, images, generated pages, what every package documents."""

import ast
import json
import re
import shutil
import subprocess

import pytest
import yaml

from app.cli import COMMANDS, docs
from app.settings import ROOT, Settings

TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_locked_packages_have_hashes_and_no_address(name):
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert not any(line.startswith("-") for line in text.splitlines()), "options of an index have no place here"
    packages = [line for line in text.splitlines() if "==" in line]
    assert len(packages) > 20
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_dev_set_contains_the_runtime_set():
    def pins(name):
        return {line.split(" ")[0] for line in (ROOT / name).read_text().splitlines() if "==" in line}

    assert pins("requirements.txt") <= pins("requirements-dev.txt")


def test_npm_packages_are_locked_with_integrity_and_no_address():
    lock = json.loads((ROOT / "frontend/package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert all("resolved" not in entry for entry in packages.values())
    assert all("integrity" in entry for entry in packages.values())


def test_nothing_that_is_built_is_committed():
    built = ("static/dist/", "frontend/node_modules/", "var/", ".venv/")
    assert [name for name in TRACKED if name.startswith(built)] == []


def test_alembic_is_no_package():
    """Else it would shadow the library of that name."""
    assert not (ROOT / "alembic/__init__.py").exists()


@pytest.mark.parametrize("page", sorted(docs.PAGES))
def test_generated_pages_are_fresh(page):
    path = ROOT / "docs" / page
    assert docs.render(path, docs.PAGES[page]()) == path.read_text()


def test_every_command_has_its_module():
    for command in COMMANDS:
        assert (ROOT / "app/cli" / f"{command.replace('-', '_')}.py").exists(), command


def test_every_setting_says_what_it_is():
    assert all(field.description for field in Settings.model_fields.values())


def test_every_run_time_dependency_has_its_reason():
    page = (ROOT / "docs/dependencies.md").read_text()
    declared = re.search(r"^dependencies = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.DOTALL | re.MULTILINE)
    names = re.findall(r'"([a-zA-Z0-9_-]+)', declared[1])
    assert [name for name in names if name not in page] == []


def test_every_module_says_why_it_exists():
    modules = sorted((ROOT / "app").rglob("*.py"))
    assert [str(path) for path in modules if ast.get_docstring(ast.parse(path.read_text())) is None] == []


def test_the_image_is_built_by_the_make_targets():
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "RUN make setup" in dockerfile
    assert re.search(r"^USER (?!root|0\b)", dockerfile, re.MULTILINE)
    copied = set(re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE))
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
        assert f"!{name}" in (ROOT / ".dockerignore").read_text().splitlines(), name


def test_compose_has_no_default_password():
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    for service in compose["services"].values():
        for name, value in (service.get("environment") or {}).items():
            if "PASSWORD" in name or "SECRET" in name:
                assert re.fullmatch(r"\$\{\w+:-\}", value), name


def test_compose_accepts_its_file():
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("no docker-compose on this machine (Debian: apt-get install docker-compose)")
    done = subprocess.run([program, "config", "-q"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readme_names_only_what_is_there():
    readme = (ROOT / "README.md").read_text()
    for link in re.findall(r"\]\(([^)#]+)", readme):
        assert (ROOT / link).exists(), link
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert target in targets


def test_no_file_names_the_place_where_it_was_written():
    here = str(ROOT).encode()
    assert [name for name in TRACKED if (ROOT / name).is_file() and here in (ROOT / name).read_bytes()] == []
