"""Write what goes with a release into a folder: ``python -m tools.release FOLDER``.

sbom.cdx.json lists the packages that the app runs with, in the form of CycloneDX.
THIRD_PARTY_NOTICES gives the licence of each, with the texts that the installed package carries.

Both follow requirements.lock for the Python that runs this, and the pin of torch in
requirements.txt. What a CUDA build of torch needs beside it is not listed: the lock leaves it out.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

from tools.lock import OUTSIDE, ROOT, entries, normal, pins

SBOM, NOTICES = "sbom.cdx.json", "THIRD_PARTY_NOTICES"
TEXT = re.compile(r"[^/]+\.dist-info/(licenses?/.+|(LICEN[CS]E|COPYING|NOTICE)[^/]*)", re.I)
RULE = "=" * 80


@dataclass(frozen=True)
class Package:
    """An installed package that is pinned. name: as indexes compare it. version: as pinned."""

    name: str
    version: str
    installed: Distribution

    @cached_property
    def licence(self) -> str:
        """Its licence, by the most exact of the fields that name one."""
        fields = self.installed.metadata
        licence = fields.get("License-Expression") or fields.get("License", "").strip()
        if licence and "\n" not in licence and licence != "UNKNOWN":
            return licence
        classifiers = fields.get_all("Classifier") or []
        named = [one.split(" :: ")[-1] for one in classifiers if one.startswith("License ::")]
        return ", ".join(named) or "no licence named"

    @cached_property
    def licence_texts(self) -> dict[str, str]:
        """The texts of its licences by their place in the package."""
        return {
            file.as_posix().partition("/")[2]: Path(str(file.locate())).read_text(
                "utf-8", errors="replace"
            )
            for file in sorted(self.installed.files or ())
            if TEXT.fullmatch(file.as_posix())
        }

    def list_requirements(self) -> list[str]:
        """Return the names of the packages that it requires on this Python."""
        return [
            normal(requirement.name)
            for requirement in map(Requirement, self.installed.requires or ())
            if is_needed(requirement)
        ]


def is_needed(requirement: Requirement) -> bool:
    """Whether a requirement holds on this Python, without extras."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def list_packages(root: Path = ROOT) -> list[Package]:
    """Return the packages that the app runs with, by name. Raises PackageNotFoundError for one
    that is not installed, ValueError for one of another version than pinned."""
    blocks = entries((root / "requirements.lock").read_text("utf-8")).values()
    pinned = [block.partition(" \\\n")[0] for versions in blocks for block in versions]
    outside = pins([root / "requirements.txt"]).items()
    pinned += [f"{name}=={version}" for name, version in outside if OUTSIDE.match(name)]
    packages = []
    for requirement in filter(is_needed, map(Requirement, pinned)):
        installed = distribution(requirement.name)
        if not requirement.specifier.contains(installed.version, prereleases=True):
            raise ValueError(f"{requirement} is pinned, {installed.version} is installed")
        (pin,) = requirement.specifier
        packages.append(Package(normal(requirement.name), pin.version, installed))
    return sorted(packages, key=lambda package: package.name)


def write_notices(packages: Sequence[Package]) -> str:
    """Return the notices: each package with its version, its licence and the texts of it."""
    parts = ["The Transformer family explorer runs with the packages below.\n"]
    for package in packages:
        parts.append(f"{RULE}\n{package.name} {package.version}\nLicence: {package.licence}\n")
        parts += [
            f"--- {place}\n\n{text.strip()}\n" for place, text in package.licence_texts.items()
        ]
        if not package.licence_texts:
            parts.append("The installed package carries no text of its licence.\n")
    return "\n".join(parts)


def build_sbom(packages: Sequence[Package], root: Path = ROOT) -> Bom:
    """Return the bill of materials: the app, its packages and what each of them requires."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    licences = LicenseFactory()
    app = Component(
        type=ComponentType.APPLICATION,
        name=project["name"],
        version=project["version"],
        licenses=[licences.make_from_string(project["license"])],
        bom_ref=project["name"],
    )
    components = {}
    for package in packages:
        address = PackageURL("pypi", None, package.name, package.version)
        components[package.name] = Component(
            name=package.name,
            version=package.version,
            licenses=[licences.make_from_string(package.licence)],
            purl=address,
            bom_ref=address.to_string(),
        )
    bom = Bom(components=components.values())
    bom.metadata.component = app
    bom.register_dependency(app, [components[name] for name in pins([root / "requirements.txt"])])
    for package in packages:
        required = {components[name] for name in package.list_requirements() if name in components}
        bom.register_dependency(components[package.name], required)
    return bom


def main(arguments: Sequence[str]) -> int:
    """Write both files into the folder that is named."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    packages = list_packages()
    sbom = JsonV1Dot6(build_sbom(packages)).output_as_string(indent=2)
    for name, text in ((SBOM, f"{sbom}\n"), (NOTICES, write_notices(packages))):
        (folder / name).write_text(text, "utf-8")
        print(f"release: {folder / name} lists {len(packages)} packages in {len(text) >> 10} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
