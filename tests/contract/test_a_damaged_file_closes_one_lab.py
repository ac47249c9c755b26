"""A file of a lab that is damaged closes that lab at most: the site starts, the page says so in
both languages, the others work."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.contract import labels
from explorer.contract.lab import OpenLab, read_steps
from explorer.labs import LABS
from explorer.web.server import Site
from tests.conftest import ROOT, built
from tests.contract.damage import ASSETS, truncated
from tests.explorer.asking import ask
from tests.explorer.web.test_site import lab

# what may be read before the server listens; no test opens a parameter file that early
SMALL = ("*.npz", "*.json")


def files(one: OpenLab) -> list[Path]:
    """The small files of a lab."""
    return sorted(path for pattern in SMALL for path in (ASSETS / one.slug).rglob(pattern))


def read(one: OpenLab) -> OpenLab:
    """The lab with steps as they are read now; without any it is closed."""
    return dataclasses.replace(
        one, steps=read_steps(one.slug, sys.modules[f"explorer.labs.{one.slug}.lab"].views.steps)
    )


def shown(site: Site, one: OpenLab) -> str:
    """All that the widgets of a lab's page are given."""
    found = re.search(r"window\.gradio_config = (\{.*?\});</script>", ask(site, one.path).text)
    assert found is not None
    return json.dumps(json.loads(found[1])["components"], ensure_ascii=False)


OTHER = lab(
    slug="other",
    steps=LABS[0].steps,
    page=lambda lab, engine: None,
    thumbnail=lambda: None,
    probe=None,
    stored=None,
    endpoint=None,
    ancestors=(),
)


@pytest.mark.slow
@pytest.mark.parametrize("one", LABS, ids=[one.slug for one in LABS])
def test_each_cut_file_closes_one_lab(one: OpenLab, caplog: pytest.LogCaptureFixture) -> None:
    with truncated(*(ASSETS / one.slug).rglob("*.md")) as opened:
        site = built(lambda: Site([read(one), OTHER]))
    site.engine.close(0)
    # most pages need no card to be whole; this one shows what stands there
    if not site.labs[0].steps:
        with truncated() as opened:
            built(lambda: Site([read(one), OTHER])).engine.close(0)
    closed: set[str] = set()
    # files of one name are read by one function
    for name, path in {path.name: path for path in files(one) if str(path) in opened}.items():
        caplog.clear()
        with truncated(path), caplog.at_level(logging.ERROR):
            now = read(one)
            if closed and not now.steps:  # a closed lab's page is the same whatever has closed it
                closed.add(name)
                assert name in caplog.text, "the log names the file"
                continue
            site = built(lambda now=now: Site([now, OTHER]))  # type: ignore[misc]
        try:
            assert (
                ask(site, "/").status_code
                == ask(site, OTHER.path).status_code
                == ask(site, one.path).status_code
                == 200
            )
            assert labels.CLOSED["line"]["en"] not in shown(site, OTHER)
            if not site.labs[0].steps:
                closed.add(name)
                assert all(words in shown(site, one) for words in labels.CLOSED["line"].values())
                assert name in caplog.text, "the log names the file"
                assert site.readiness.failed[one.slug]
        finally:
            site.engine.close(0)
    assert "first.npz" in closed


def test_all_labs_are_open_when_their_files_are_whole() -> None:
    assert all(5 <= len(one.steps) <= 8 for one in LABS)


@pytest.mark.slow
def test_three_damaged_labs_at_once_leave_the_others() -> None:
    """In a process of its own, as the server starts: the labs are imported while the files are
    damaged."""
    code = """if True:
        import asyncio, sys
        from tests.contract.damage import ASSETS, truncated
        names = ("reformer/first.npz", "music/jsb_relative/model.json",
            "sparse_transformer/examples.npz")
        with truncated(*(ASSETS / name for name in names)):
            from explorer.labs import LABS
            from explorer.web.server import Site
            async def make():
                return Site(LABS)
            site = asyncio.run(make())
        print(*sorted(lab.slug for lab in site.labs if not lab.steps))
        site.engine.close(0)
    """
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["music", "reformer", "sparse_transformer"], done.stderr
