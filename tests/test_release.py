"""A release lists what the app runs with, and the licence of each."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.conftest import ROOT
from tools import release
from tools.lock import normal, pins

PINS = {normal(name): version for name, version in pins([ROOT / "requirements.txt"]).items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of this tree."""
    path = tmp_path_factory.mktemp("release")
    assert release.main([str(path / "dist")]) == 0
    return path / "dist"


def test_the_sbom_holds_its_schema(folder: Path) -> None:
    text = (folder / "sbom.cdx.json").read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_the_sbom_reaches_every_package(folder: Path) -> None:
    sbom = json.loads((folder / "sbom.cdx.json").read_text("utf-8"))
    packages = {package["bom-ref"]: package for package in sbom["components"]}
    versions = {package["name"]: package["version"] for package in packages.values()}
    assert versions.items() >= PINS.items() and "pytest" not in versions
    assert all(package["licenses"] for package in packages.values())
    graph = {entry["ref"]: entry.get("dependsOn", []) for entry in sbom["dependencies"]}
    reached: set[str] = set()
    waiting = [sbom["metadata"]["component"]["bom-ref"]]
    while waiting:
        ref = waiting.pop()
        waiting += [name for name in graph[ref] if name not in reached]
        reached.add(ref)
    assert reached == graph.keys() > packages.keys()


def test_notices_carry_licence_texts(folder: Path) -> None:
    notices = (folder / "THIRD_PARTY_NOTICES").read_text("utf-8")
    starts = re.split(rf"^{release.RULE}\n(?=\S+ \S+\nLicence: )", notices, flags=re.MULTILINE)[1:]
    parts = {part.split()[0]: part for part in starts}
    packages = release.list_packages()
    assert [package.name for package in packages] == list(parts)
    for package in packages:
        assert parts[package.name].startswith(f"{package.name} {package.version}\nLicence: ")
    named = {package.name: package.licence for package in packages}
    assert named["plotly"] == "MIT" and named["cycler"] == "BSD License"
    assert "no licence named" not in named.values() and "UNKNOWN" not in named.values()
    assert "Permission is hereby granted, free of charge" in parts["plotly"]
    assert "Redistributions of source code" in parts["torch"]
    assert "carries no text of its licence" in parts["xstatic-jquery"]


def write_pins(folder: Path, numpy: str, torch: str) -> Path:
    """Write a lock of one package, and the pin of torch."""
    (folder / "requirements.lock").write_text(f"{numpy} \\\n    --hash=sha256:0\n", "utf-8")
    (folder / "requirements.txt").write_text(f"{torch}\n", "utf-8")
    return folder


def test_another_version_is_refused(tmp_path: Path) -> None:
    root = write_pins(tmp_path, "numpy==1.0", f"torch=={PINS['torch']}")
    with pytest.raises(ValueError, match=r"numpy==1\.0 is pinned, \S+ is installed"):
        release.list_packages(root)


def test_a_missing_package_is_refused(tmp_path: Path) -> None:
    root = write_pins(tmp_path, "no-such-package==1.0", f"torch=={PINS['torch']}")
    with pytest.raises(PackageNotFoundError, match="no-such-package"):
        release.list_packages(root)


def test_packages_of_other_systems_are_left_out(tmp_path: Path) -> None:
    lock = "tzdata==1.0 ; sys_platform == 'emscripten'"
    packages = release.list_packages(write_pins(tmp_path, lock, f"torch=={PINS['torch']}"))
    assert [package.name for package in packages] == ["torch"]
