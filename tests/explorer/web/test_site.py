"""Every lab has its page; the frame and the document are ours; nothing promised can be left out of
an OpenLab."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from explorer.components.base import FOLDER
from explorer.components.home import place_home
from explorer.components.lecture import place_lecture
from explorer.components.shell import place_shell
from explorer.contract import controls, labels
from explorer.contract.lab import GuidedStep, OpenLab
from explorer.engine import Engine
from explorer.gradio_adapter.document import Facts, digest_scripts, rewrite_document
from explorer.labs import LABS
from explorer.web import qr
from explorer.web.site import COMPARE, EXERCISES, LECTURE, PRESENTER, build_blocks, facts
from models.explaining.errors import InputError
from models.explaining.request_fields import list_former_names
from tests.conftest import built
from tests.explorer.numbers import refused
from tests.test_labs import looks_of

BOTH = {"en": "a word", "zh": "一个词"}
STEP = GuidedStep(
    title=BOTH, say=BOTH, query="v=1&sentence=a", view={"kind": "cross", "head": "3.5"}
)

# What Gradio writes, cut down to what is touched.
DOCUMENT = """<!doctype html><html lang="en"><head>
<meta charset="utf-8" />
<meta property="og:title" content="Gradio" />
<meta
    property="og:image"
    content="https://raw.githubusercontent.com/gradio-app/header-image.jpg"
/>
<meta name="twitter:creator" content="@Gradio" />
<script>window.gradio_config = {"js_on_load": "import(new URL(\\"/ui/0a1b/attention.js\\"",
    "plotly": "/vendor/0c2d/plotly.js", "root":"http://explorer.invalid"};</script>
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


def lab(**changed: Any) -> OpenLab:
    """A lab that promises what every lab must, with some facts changed."""
    known: dict[str, Any] = {
        field.name: getattr(LABS[0], field.name) for field in dataclasses.fields(OpenLab)
    }
    return OpenLab(**{**known, **changed})


@pytest.fixture(scope="module")
def document() -> str:
    """The rewritten document."""
    return rewrite_document(
        DOCUMENT,
        Facts("A < B", 'says "hello"'),
        ["/ui/9/page.css"],
        ["/ui/0/frame.js", "/ui/0/lab.js"],
        ["core-1.js", "index-1.css"],
    )


def test_every_lab_has_a_page_with_its_frame(engine: Engine) -> None:
    blocks = built(lambda: build_blocks(LABS, engine))
    assert [page[0] for page in blocks.pages] == [
        "",
        *(lab.slug for lab in LABS),
        "lecture",
        "presenter",
        "exercises",
        "compare",
        "api",
    ]
    config = blocks.get_config_file()
    for slug in ["", *(lab.slug for lab in LABS), "lecture"]:
        inside = set(config["page"][slug]["components"])
        classes = [
            " ".join(c["props"].get("elem_classes") or [])
            for c in config["components"]
            if c["id"] in inside
        ]
        assert any("tfe-block-shell" in names for names in classes)
    assert config["connect_heartbeat"] is False, (
        "a page that keeps a heartbeat holds a second connection in every tab"
    )
    # Gradio's script copies all that a component holds whenever it tells it of an event's progress:
    # at every word of an answer.
    events = [one for one in config["dependencies"] if one["backend_fn"] and one["targets"]]
    assert len(events) > 20
    assert [
        one["targets"]
        for one in events
        if one["show_progress_on"] is None or len(one["show_progress_on"])
    ] == []


def test_a_site_with_no_labs_still_has_its_map_and_no_lecture(engine: Engine) -> None:
    assert [page[0] for page in built(lambda: build_blocks((), engine)).pages] == [""] and set(
        facts(())
    ) == {"/"}


def test_every_page_says_what_it_is() -> None:
    told = facts(LABS)
    assert set(told) == {"/", LECTURE, PRESENTER, EXERCISES, COMPARE, *(lab.path for lab in LABS)}
    assert len({fact.title for fact in told.values()}) == len(told)
    assert all(fact.title and fact.description for fact in told.values())


def test_the_lecture_is_read_where_no_script_runs() -> None:
    plain = facts(LABS)[LECTURE].plain
    made = rewrite_document(DOCUMENT, Facts("a", "b", plain=plain), [], [])
    body = made[made.index("<body>") : made.index("<gradio-app")]
    assert body.startswith("<body><noscript>") and body.endswith("</noscript>")
    addresses = re.findall(r'<a href="([^"]+)">', body)
    for at, language in enumerate(("en", "zh")):
        expected = [
            f"{lab.path}?step={n}&amp;lecture=1&amp;lang={language}"
            for lab in LABS
            for n in range(1, len(lab.steps) + 1)
        ]
        assert addresses[at * len(expected) : (at + 1) * len(expected)] == expected
        assert all(html.escape(step.say[language]) in body for lab in LABS for step in lab.steps)
    assert "<noscript" not in rewrite_document(DOCUMENT, Facts("a", "b"), [], [])


def test_the_document_names_no_other_host(document: str) -> None:
    assert not [
        word
        for word in ("githubusercontent", "Gradio", "iframeResizer.contentWindow", "manifest")
        if word in document
    ]
    assert "<title>A &lt; B</title>" in document and 'content="says &quot;hello&quot;"' in document


def test_every_script_is_named_by_its_digest(document: str) -> None:
    inside = re.findall(r"<script(?![^>]*src=)[^>]*>(.*?)</script>", document, flags=re.S)
    named = digest_scripts(document)
    assert len(named) == len(set(inside)) == 5
    for body in inside:
        assert (
            f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'" in named
        )


def test_the_page_fetches_its_scripts_and_styles_at_once(document: str) -> None:
    head = document[: document.index("gradio_config")]
    for address in ("/ui/0/frame.js", "/ui/0/lab.js", "/assets/core-1.js"):
        assert f'<link rel="modulepreload" href="{address}" />' in head
    assert '<link rel="stylesheet" href="/ui/9/page.css" />' in head and "plotly" not in head


def test_early_scripts_and_styles_are_inline(
    document: str,
) -> None:
    assert re.findall(r"<link[^>]*index-1\.css[^>]*>", document) == [
        '<link rel="stylesheet" href="./assets/index-1.css" disabled />'
    ]
    assert document.index("tfe-theme") > document.index("</gradio-app>"), "light or dark"
    assert document.index("tfe-lang") < document.index("gradio_config")
    railed = DOCUMENT.replace("gradio_config = {", 'gradio_config = {"classes": "tfe-with-rail", ')
    script = 'classList.add("tfe-railed")'  # leaves room for the rail
    assert script not in document and script in rewrite_document(railed, Facts("a", "b"), [], [])


GONE = (
    "iframeResizer",
    '<link rel="manifest" href="/manifest.json" />',
    "<gradio-app",
    '<meta charset="utf-8" />',
    "http://explorer.invalid",
)


@pytest.mark.parametrize("gone", GONE)
def test_a_gradio_that_writes_another_document_is_noticed(gone: str) -> None:
    refused(
        "this version of Gradio",
        rewrite_document,
        DOCUMENT.replace(gone, ""),
        Facts("a", "b"),
        [],
        [],
    )


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        *(
            ({"slug": "Trans lation"}, "slug"),
            ({"title": {"en": "only English"}}, "zh"),
            ({"line": {"en": "", "zh": "有"}}, "en"),
        ),
        *(
            ({"examples": ("a", "b")}, "2 examples"),
            ({"steps": (STEP,) * 4}, "4 guided steps"),
            ({"steps": (STEP,) * 9}, "9 guided steps"),
        ),
        ({"interventions": {}}, "intervention"),
    ],
)
def test_a_lab_that_leaves_something_out_is_refused(changed: dict[str, Any], named: str) -> None:
    refused(named, lab, **changed)


def test_a_step_needs_chinese_and_own_names() -> None:
    refused("zh", GuidedStep, title=BOTH, say={"en": "a"}, query="", view={})
    refused("underscore", GuidedStep, title=BOTH, say=BOTH, query="", view={"_head": "1.1"})
    refused(r"“\?”", GuidedStep, title=BOTH, say=BOTH, query="?v=1", view={})


# ---- what the frame is given

GROUPS = [labels.SITE, labels.SHELL, labels.CHANGED, labels.HOME, labels.LECTURE]


def test_shared_texts_are_in_both_languages() -> None:
    texts = [text for group in GROUPS for text in group.values()]
    for text in [
        *texts,
        *(text for pair in (*labels.GRAMMAR, *labels.GRAMMAR_IN_FULL) for text in pair),
    ]:
        assert set(text) == {"en", "zh"} and all(words.strip() for words in text.values()), text
    for text in texts:
        english, chinese = (
            {*re.findall(r"\{(\w+)\}", text[language])} for language in ("en", "zh")
        )
        assert english == chinese, text


def test_the_frame_and_the_map_are_json() -> None:
    for at, lab in enumerate(LABS):
        props = json.loads(json.dumps(place_shell(LABS, lab).props))
        before, onward = (LABS[i] if 0 <= i < len(LABS) else None for i in (at - 1, at + 1))
        assert [step["title"] for step in props["steps"]] == [
            dict(step.title) for step in lab.steps
        ]
        assert props["onward"] == (
            None if onward is None else {"path": onward.path, "short": dict(onward.short)}
        )
        assert props["before"] == (
            None if before is None else {"path": before.path, "steps": len(before.steps)}
        )
    frame, map_ = (
        json.loads(json.dumps(one.props)) for one in (place_shell(LABS), place_home(LABS))
    )
    assert (
        frame["steps"] == []
        and frame["onward"] is None is frame["before"]
        and frame["lecture"] is None
    )
    assert place_shell(LABS, lecture="/lecture").props["lecture"] == "/lecture"
    assert all(set(one["ancestors"]) <= {lab.slug for lab in LABS} for one in map_["labs"]), (
        "only ancestors that are on it"
    )


def test_no_step_leads_to_a_closed_lab_which_leads_on_itself() -> None:
    first, shut, last = LABS[0], dataclasses.replace(LABS[1], steps=()), LABS[2]
    frames = [place_shell((first, shut, last), one).props for one in (first, shut, last)]
    assert [one["onward"] and one["onward"]["path"] for one in frames] == [
        last.path,
        last.path,
        None,
    ]
    assert [one["before"] and one["before"]["path"] for one in frames] == [
        None,
        first.path,
        first.path,
    ]


def test_the_lecture_names_every_step() -> None:
    props = place_lecture(LABS).props
    assert [lab["path"] for lab in props["labs"]] == [lab.path for lab in LABS]
    said = [[(step["title"], step["say"]) for step in lab["steps"]] for lab in props["labs"]]
    assert said == [[(dict(step.title), dict(step.say)) for step in lab.steps] for lab in LABS]


def test_a_link_becomes_a_plain_code() -> None:
    picture = ElementTree.fromstring(
        qr.draw_svg("http://localhost:7860/translation?v=1&sentence=A+dog")
    )
    # the smallest code and its quiet zone
    assert float(picture.attrib["viewBox"].split()[2]) >= 21 + 8
    assert "width" not in picture.attrib and "<img" not in qr.draw_svg(
        "http://localhost/?sentence=<img src=x onerror=alert(1)>"
    )


@pytest.mark.parametrize("length", [0, qr.LONGEST + 1])
def test_a_link_too_long_for_a_code_is_refused_with_both_lengths(length: int) -> None:
    with pytest.raises(InputError, match=f"{length:,} characters.*{qr.LONGEST:,}"):
        qr.draw_svg("a" * length)


OLD: dict[str, list[tuple[str, dict[str, str]]]] = json.loads(
    Path(__file__).with_name("old_links.json").read_text("utf-8")
)
TABLE = re.search(
    r"const FORMER = \{(.*?)\}", (FOLDER / "lib" / "state.js").read_text("utf-8"), re.DOTALL
)
# by which the browser reads an old name of what is looked at
FORMER = dict(re.findall(r'(\w+): "(\w+)"', TABLE[1] if TABLE else ""))
BY_SLUG = {lab.slug: lab for lab in LABS}


@pytest.mark.parametrize(
    ("slug", "query"), [(slug, query) for slug, links in OLD.items() for query, _ in links if query]
)
def test_an_old_link_says_today_what_it_said_then(slug: str, query: str) -> None:
    kind = import_module(f"models.{slug}.records").Request
    request, notice = controls.read_request(kind, query)
    assert notice is None
    for former, name in list_former_names(kind).items():
        query = query.replace(f"&{former}=", f"&{name}=")
    assert controls.spell_query(request) == query


@pytest.mark.parametrize("slug", OLD)
def test_what_an_old_link_looks_at_is_still_a_look_of_its_page(slug: str) -> None:
    named = {FORMER.get(key, key) for _, view in OLD[slug] for key in view}
    assert named <= looks_of(BY_SLUG[slug])
