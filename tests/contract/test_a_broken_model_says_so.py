"""A model that cannot be read is told as what it is, in both languages, and the server stands for
the other labs."""

from __future__ import annotations

import asyncio
import logging

import pytest

from explorer.contract.lab import OpenLab
from explorer.engine import Engine, Failed
from explorer.labs import LABS
from explorer.web.server import Site
from models.explaining.errors import DamagedFile
from tests.conftest import built
from tests.contract.damage import ASSETS, truncated
from tests.explorer.web.test_server import readiness
from tests.explorer.web.test_site import lab

WITH_MODELS = [
    lab for lab in LABS if lab.probe is not None and any((ASSETS / lab.slug).rglob("model.json"))
]


@pytest.mark.parametrize("lab", WITH_MODELS, ids=[lab.slug for lab in WITH_MODELS])
@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
def test_a_broken_lab_says_so_and_is_logged(
    lab: OpenLab, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine()
    try:
        with (
            truncated(*(ASSETS / lab.slug).rglob(name)),
            pytest.raises(Failed) as told,
            caplog.at_level(logging.ERROR),
        ):
            asyncio.run(_asked(lab, engine))
    finally:
        engine.close(0)
    assert told.value.code == "damaged" and isinstance(told.value.__cause__, DamagedFile)
    assert (
        "model cannot be read" in told.value.text["en"] and "模型无法读取" in told.value.text["zh"]
    )
    assert "other labs work" in told.value.text["en"] and "其他实验" in told.value.text["zh"]
    assert name in caplog.text


async def _asked(lab: OpenLab, engine: Engine) -> None:
    assert lab.probe is not None
    await lab.probe(engine)


async def _well(engine: Engine) -> None:
    pass


async def _broken(engine: Engine) -> None:
    try:
        raise DamagedFile("secret/model.json cannot be read")
    except DamagedFile as error:
        raise Failed("damaged", en="…", zh="…") from error


def test_the_server_names_the_failed_lab() -> None:
    _, after = readiness(built(lambda: Site([lab(probe=_well), lab(slug="other", probe=_broken)])))
    assert after.status_code == 200 and after.json()["ready"] is True
    assert after.json()["failed"] == {"other": "DamagedFile"} and "secret" not in after.text


def test_a_strict_server_is_ready_only_when_all_labs_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_READY", "all")
    _, after = readiness(built(lambda: Site([lab(probe=_well), lab(slug="other", probe=_broken)])))
    assert after.status_code == 503 and after.json()["failed"] == {"other": "DamagedFile"}
