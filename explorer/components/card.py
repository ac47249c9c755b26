"""The card of a lab: its description, its equation in the colours of its roles, its figures from
`model.json`, and the model card."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.components.base import place_widget
from explorer.contract import labels
from explorer.values.packing import record_fields

Text = Mapping[str, str]

SHORT = 12  # characters of a note that fit in the title row
ROLES = frozenset({"query", "key", "value", "sup", "sub", "root"})


@dataclass(frozen=True)
class TitleFigure:
    """One figure in the title row.

    value: the figure itself.
    note: smaller text beside it, shortened in the title row.
    why: a longer remark, marked by a † and written out in the model card.
    """

    label: Text
    value: str | Text
    note: str | Text = ""
    why: Text | None = None


def place_card(
    *,
    kicker: Text,
    title: Text,
    line: Text,
    equation: str,
    spoken: Text,
    pairs: Sequence[TitleFigure],
    prose: Mapping[str, str],
) -> gr.HTML:
    """Place the card. Its event `unfold` comes when the model card is opened for the first time.

    equation: the notation of `parse_equation`.
    spoken: the same for people who hear it.
    prose: the model card as Markdown, one text for each language.
    """
    return place_widget(
        "card",
        {},
        events=("unfold",),
        kicker=dict(kicker),
        title=dict(title),
        line=dict(line),
        equation=parse_equation(equation),
        spoken=dict(spoken),
        pairs=[{**record_fields(pair), "brief": _shorten_note(pair.note)} for pair in pairs],
        prose={language: parse_markdown(text) for language, text in prose.items()},
    )


def parse_equation(equation: str) -> list[list[str]]:
    """Return an equation in our small notation as [[style, text], …].

    In ``softmax({query:Q}{key:K}{sup:⊤}/{root:d_k}) {value:V}`` a term in braces wears its role
    (query, key, value) or its shape (sup, sub, root), and text outside braces is upright. An
    underscore lowers the text that follows it within a term. Raise ValueError for a role that does
    not exist.
    """
    found: list[list[str]] = []
    for part in re.split(r"(\{[^{}]*\})", equation):
        if not part:
            continue
        inside = re.fullmatch(r"\{(\w+):([^{}]+)\}", part)
        if inside is None:
            if "{" in part:
                raise ValueError(f"{part} in an equation: expected {{role:term}}")
            if "_" in part:
                raise ValueError(f"{part} in an equation: a subscript stands in braces, m{{sub:z}}")
            found.append(["upright", part])
        elif inside[1] not in ROLES:
            raise ValueError(
                f"role {inside[1]} in an equation; known are {', '.join(sorted(ROLES))}"
            )
        else:
            found.append([inside[1], inside[2]])
    return found


def parse_markdown(markdown: str) -> list[dict[str, object]]:
    """Return a small, safe part of Markdown as data: headings, paragraphs, list items, **strong**,
    *emphasis*, `code`, [links](https://…).

    The result is [{"kind": "h" | "p" | "li", "runs": [[style, text, address], …]}, …]. Everything
    else stays plain text: no markup passes.
    """
    made: list[dict[str, object]] = []
    paragraph: list[str] = []

    def close() -> None:
        if paragraph:
            made.append({"kind": "p", "runs": parse_line(" ".join(paragraph))})
            paragraph.clear()

    for line in [*markdown.splitlines(), ""]:
        text = line.strip()
        heading, item = re.fullmatch(r"#{1,6}\s+(.*)", text), re.fullmatch(r"[-*]\s+(.*)", text)
        if not text or heading or item:
            close()
        if heading:
            made.append({"kind": "h", "runs": parse_line(heading[1])})
        elif item:
            made.append({"kind": "li", "runs": parse_line(item[1])})
        elif text and made and made[-1]["kind"] == "li" and not paragraph and line[:1].isspace():
            made[-1]["runs"] = [*_parse_block(made[-1]), *parse_line(" " + text)]
        elif text:
            paragraph.append(text)
    return made


def parse_line(text: str) -> list[list[str]]:
    """Return one line of text as [[style, text, address], …]. The style is "plain", "strong", "em",
    "code", or "link" with an https address."""
    pattern = r"\*\*([^*]+)\*\*|\*([^*]+)\*|`([^`]+)`|\[([^\]]+)\]\((https://[^)\s]+)\)"
    made: list[list[str]] = []
    at = 0
    for match in re.finditer(pattern, text):
        if match.start() > at:
            made.append(["plain", text[at : match.start()], ""])
        strong, emphasis, code, label, address = match.groups()
        style = "strong" if strong else "em" if emphasis else "code" if code else "link"
        made.append([style, strong or emphasis or code or label, address or ""])
        at = match.end()
    if at < len(text):
        made.append(["plain", text[at:], ""])
    return made


def _parse_block(block: Mapping[str, object]) -> list[list[str]]:
    found = block["runs"]
    assert isinstance(found, list)
    return found


def _shorten_note(note: str | Text) -> str | dict[str, str]:
    """Return the part of a note for the title row: all of a short note, else the published figure,
    else nothing."""
    texts = {"en": note, "zh": note} if isinstance(note, str) else note
    starts = {language: text.split("{")[0] for language, text in labels.CARD["published"].items()}
    found = {
        language: text
        if len(text) <= SHORT
        else next((part for part in text.split(" · ") if part.startswith(starts[language])), "")
        for language, text in texts.items()
    }
    return found if all(found.values()) else ""
