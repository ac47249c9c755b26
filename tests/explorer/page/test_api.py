"""Every lab answers a script as it answers its page."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from explorer.contract import controls
from explorer.contract.lab import OpenLab
from explorer.labs import LABS
from tests.browser.waiting import prepared as ready
from tests.explorer.asking import raw
from tests.explorer.page.test_every_page import small

README = Path(__file__).parents[3] / "README.md"
# the address of an array, or a number in a sentence, "3 × 10⁻⁶" too
NUMBER = re.compile(r"/\w+/[0-9a-f]{32}|\d+(?: × 10[⁻⁰¹²³⁴-⁹]+)?")
HOSTILE = [10**400, -1, 1e308, "</script>", [], {}, ["x"], {"a": {}}, "x" * 100_000, True]


@pytest.fixture(scope="module")
def client(site: str) -> Client:
    """A script that has read what the site offers."""
    return Client(site, analytics_enabled=False, verbose=False)


@pytest.fixture(scope="module")
def offered(client: Client) -> dict[str, Any]:
    """What the site says of its endpoints, by name."""
    found: dict[str, Any] = client.view_api(return_format="dict", print_info=False)[
        "named_endpoints"
    ]  # type: ignore[index]
    return found


def test_each_lab_has_one_endpoint(offered: dict[str, Any], client: Client) -> None:
    assert list(offered) == [lab.path for lab in LABS]
    assert {one["api_name"] for one in client.config["dependencies"]} == {lab.slug for lab in LABS}
    assert {one["type"] for one in client.config["components"]} == {"api"}
    for about in offered.values():
        for one in about["parameters"]:
            assert (
                one["type"]["type"] in {"string", "integer", "number", "boolean", "array"}
                and one["parameter_has_default"]
            )
            assert f"{one['parameter_name']}: " in about["description"]


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_a_script_is_told_what_the_page_shows(lab: OpenLab, client: Client, site: str) -> None:
    # the first one of the cost laboratory is timed anew whenever it is asked for
    number = 1 if lab.probe is None else 0
    query = lab.examples[number]
    ready(site, lab.slug)
    page = raw(site, "GET", f"/stored/{_version(site, lab)}/{lab.slug}/{number}")
    assert page[0] == 200
    shown = json.loads(page[1])
    given = {name: value for name, value in parse_qsl(query) if name != "v"}
    views = [name for name in shown if name not in {"ask", "change"}]
    told = client.predict(**given, views=views, api_name=lab.path)
    assert told["link"] == f"{lab.path}?{query}" and told["change"] is None
    assert _alike(told["answer"], shown["ask"]["answer"])
    assert [name for name in views if not _alike(told["views"][name], shown[name])] == []


def _version(site: str, lab: OpenLab) -> str:
    found = re.search(r"/stored/(\w+)/", raw(site, "GET", lab.path)[1].decode())
    assert found is not None
    return found[1]


def _alike(told: Any, shown: Any) -> bool:
    """Are two values the same but for rounding, for how they came about, and for the bits of packed
    arrays?"""
    if isinstance(told, dict) and isinstance(shown, dict):
        aside = {"state", "data", "badge", "looked", "ends"}  # the last are times of one run
        return told.keys() == shown.keys() and all(
            _alike(told[name], shown[name]) for name in told.keys() - aside
        )
    if isinstance(told, list) and isinstance(shown, list):
        return len(told) == len(shown) and all(map(_alike, told, shown))
    if isinstance(told, float) and isinstance(shown, float):
        return math.isclose(told, shown, rel_tol=1e-3, abs_tol=1e-3)
    return bool(told == shown) or (
        isinstance(told, str)
        and isinstance(shown, str)
        and NUMBER.sub("", told) == NUMBER.sub("", shown)
    )


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_a_script_is_answered_or_refused(
    lab: OpenLab, client: Client, offered: dict[str, Any]
) -> None:
    names = [one["parameter_name"] for one in offered[lab.path]["parameters"]]
    quick = dict(parse_qsl(controls.spell_query(small(lab))))
    quick.pop("v")
    at = 4 * LABS.index(lab)
    for name, value in zip(
        itertools.cycle(names), itertools.islice(itertools.cycle(HOSTILE), at, at + 4), strict=False
    ):
        try:
            told = client.predict(**{**quick, name: value}, api_name=lab.path)
        except AppError as error:
            assert 20 < len(str(error)) < 600 and "log" not in str(error), (name, value)
        else:
            assert told["state"] in {"live", "remembered", "stored"}, (name, value)


@pytest.mark.parametrize("name", ["told", "step_signal"])
def test_a_script_may_use_a_former_name(name: str, client: Client, site: str) -> None:
    ready(site, "act_rnn")
    answer = client.predict(text="1+2", **{name: False}, api_name="/act_rnn")
    assert "step_signal=0" in answer["link"] and answer["change"]


@pytest.mark.parametrize("views", [[[]], [{}], {"a": 1}, 3, ["attention", None], ["no such view"]])
def test_views_are_a_list_of_names(views: Any, client: Client) -> None:
    with pytest.raises(AppError, match=r"does not have the form|There is no view"):
        client.predict(sentence="Two dogs run.", views=views, api_name="/translation")


def test_the_lines_of_the_readme_translate_a_sentence(
    site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.search(
        r"## From a script.*?```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    exec(found[1].replace("http://localhost:7860", site), {})
    pieces, names = capsys.readouterr().out.splitlines()[-2:]
    assert "Hunde" in pieces and "3·1" in pieces and "translation" in names
