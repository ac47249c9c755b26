"""Every lab has its page; the document that Gradio writes becomes ours; nothing promised can be left out of a Lab."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import re
from typing import Any

import pytest

from explorer.document import Facts, digests, rewrite
from explorer.engine import Engine
from explorer.lab import GuidedStep, Lab
from explorer.labs import LABS
from explorer.site import COMPARE, LECTURE, PRESENTER, build, facts
from tests.conftest import built

BOTH = {"en": "a word", "zh": "一个词"}
STEP = GuidedStep(title=BOTH, say=BOTH, query="v=1&sentence=a", view={"kind": "cross", "head": "3.5"})

# What Gradio writes, cut down to what is touched.
DOCUMENT = """<!doctype html><html lang="en"><head>
<meta charset="utf-8" />
<meta property="og:title" content="Gradio" />
<meta
    property="og:image"
    content="https://raw.githubusercontent.com/gradio-app/header-image.jpg"
/>
<meta name="twitter:creator" content="@Gradio" />
<script>window.gradio_config = {"js_on_load": "import(new URL(\\"/ui/0a1b/attention.js\\"", "plotly": "/vendor/0c2d/plotly.js", "root":"http://explorer.invalid"};</script>
<script data-gradio-mode>window.iFrameResizer = {autoResize: false};</script>
<script>
    (() => {
        const script = document.createElement("script");
        script.src = `/static/js/iframeResizer.contentWindow.min.js`;
    })();
</script>
<link rel="manifest" href="/manifest.json" />
<script type="module" src="./assets/index.js"></script>
<link rel="stylesheet" crossorigin href="./assets/index-1.css">
</head><body><gradio-app control_page_title="true"></gradio-app></body></html>"""


def lab(**changed: Any) -> Lab:
    """A lab that promises what every lab must, with some facts changed."""
    known: dict[str, Any] = {field.name: getattr(LABS[0], field.name) for field in dataclasses.fields(Lab)}
    return Lab(**{**known, **changed})


@pytest.fixture(scope="module")
def document() -> str:
    """The rewritten document."""
    return rewrite(
        DOCUMENT, Facts("A < B", 'says "hello"'), ["/ui/9/page.css"], ["/ui/0/frame.js", "/ui/0/lab.js"], ["core-1.js", "index-1.css"]
    )


def test_every_lab_has_a_page_with_its_frame(engine: Engine) -> None:
    blocks = built(lambda: build(LABS, engine))
    assert [page[0] for page in blocks.pages] == ["", *(lab.slug for lab in LABS), "lecture", "presenter", "compare", "api"]
    config = blocks.get_config_file()
    for slug in ["", *(lab.slug for lab in LABS), "lecture"]:
        inside = set(config["page"][slug]["components"])
        classes = [" ".join(c["props"].get("elem_classes") or []) for c in config["components"] if c["id"] in inside]
        assert any("tfe-block-shell" in names for names in classes)
    assert config["connect_heartbeat"] is False, "a page that keeps a heartbeat holds a second connection in every tab"


def test_no_event_makes_the_page_copy_what_its_widgets_hold(engine: Engine) -> None:
    """Gradio's script copies all that a component holds whenever it tells it of an event's progress: at every word of an answer."""
    events = [one for one in built(lambda: build(LABS, engine)).get_config_file()["dependencies"] if one["backend_fn"] and one["targets"]]
    assert len(events) > 20
    assert [one["targets"] for one in events if one["show_progress_on"] is None or len(one["show_progress_on"])] == []


def test_a_site_with_no_labs_still_has_its_map_and_no_lecture(engine: Engine) -> None:
    assert [page[0] for page in built(lambda: build((), engine)).pages] == [""] and set(facts(())) == {"/"}


def test_every_page_says_what_it_is() -> None:
    told = facts(LABS)
    assert set(told) == {"/", LECTURE, PRESENTER, COMPARE, *(lab.path for lab in LABS)}
    assert len({fact.title for fact in told.values()}) == len(told)
    assert all(fact.title and fact.description for fact in told.values())


def test_the_lecture_is_read_where_no_script_runs() -> None:
    plain = facts(LABS)[LECTURE].plain
    made = rewrite(DOCUMENT, Facts("a", "b", plain=plain), [], [])
    body = made[made.index("<body>") : made.index("<gradio-app")]
    assert body.startswith("<body><noscript>") and body.endswith("</noscript>")
    addresses = re.findall(r'<a href="([^"]+)">', body)
    for at, language in enumerate(("en", "zh")):
        expected = [f"{lab.path}?step={n}&amp;lecture=1&amp;lang={language}" for lab in LABS for n in range(1, len(lab.steps) + 1)]
        assert addresses[at * len(expected) : (at + 1) * len(expected)] == expected
        assert all(html.escape(step.say[language]) in body for lab in LABS for step in lab.steps)
    assert "<noscript" not in rewrite(DOCUMENT, Facts("a", "b"), [], [])


def test_the_document_names_no_other_host(document: str) -> None:
    assert "githubusercontent" not in document and "Gradio" not in document
    assert "iframeResizer.contentWindow" not in document and "manifest" not in document


def test_the_document_carries_our_title_as_text(document: str) -> None:
    assert "<title>A &lt; B</title>" in document and 'content="says &quot;hello&quot;"' in document


def test_every_script_that_stands_in_the_document_is_named_by_its_digest(document: str) -> None:
    inside = re.findall(r"<script(?![^>]*src=)[^>]*>(.*?)</script>", document, flags=re.S)
    named = digests(document)
    assert len(named) == len(set(inside)) == 5
    for body in inside:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'" in named


def test_the_page_fetches_its_scripts_and_styles_at_once(document: str) -> None:
    head = document[: document.index("gradio_config")]
    for address in ("/ui/0/frame.js", "/ui/0/lab.js", "/assets/core-1.js"):
        assert f'<link rel="modulepreload" href="{address}" />' in head
    assert '<link rel="stylesheet" href="/ui/9/page.css" />' in head and "plotly" not in head


def test_a_style_of_gradio_that_is_in_our_sheet_is_fetched_by_nobody(document: str) -> None:
    assert re.findall(r"<link[^>]*index-1\.css[^>]*>", document) == ['<link rel="stylesheet" href="./assets/index-1.css" disabled />']


def test_light_or_dark_is_decided_before_gradio_starts(document: str) -> None:
    assert document.index("tfe-theme") > document.index("</gradio-app>")
    assert document.index("tfe-lang") < document.index("gradio_config")


def test_room_for_the_rail_is_left_where_the_page_has_one(document: str) -> None:
    script = 'classList.add("tfe-railed")'
    assert script not in document
    assert script in rewrite(
        DOCUMENT.replace("gradio_config = {", 'gradio_config = {"classes": "tfe-with-rail", '), Facts("a", "b"), [], []
    )


@pytest.mark.parametrize(
    "gone",
    [
        "iframeResizer",
        '<link rel="manifest" href="/manifest.json" />',
        "<gradio-app",
        '<meta charset="utf-8" />',
        "http://explorer.invalid",
    ],
)
def test_a_gradio_that_writes_another_document_is_noticed(gone: str) -> None:
    with pytest.raises(ValueError, match="this version of Gradio"):
        rewrite(DOCUMENT.replace(gone, ""), Facts("a", "b"), [], [])


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"slug": "Trans lation"}, "slug"),
        ({"title": {"en": "only English"}}, "zh"),
        ({"line": {"en": "", "zh": "有"}}, "en"),
        ({"examples": ("a", "b")}, "2 examples"),
        ({"steps": (STEP,) * 4}, "4 guided steps"),
        ({"steps": (STEP,) * 9}, "9 guided steps"),
        ({"interventions": {}}, "intervention"),
    ],
)
def test_a_lab_that_leaves_something_out_is_refused(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        lab(**changed)


def test_a_step_without_chinese_or_with_the_browsers_underscore_is_refused() -> None:
    with pytest.raises(ValueError, match="zh"):
        GuidedStep(title=BOTH, say={"en": "a"}, query="", view={})
    with pytest.raises(ValueError, match="underscore"):
        GuidedStep(title=BOTH, say=BOTH, query="", view={"_head": "1.1"})
    with pytest.raises(ValueError, match=r"“\?”"):
        GuidedStep(title=BOTH, say=BOTH, query="?v=1", view={})
