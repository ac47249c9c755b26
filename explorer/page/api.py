"""Every lab from a script: one endpoint for each lab. Its parameters are the fields of the lab's
request, and it runs through the same handler as the page.

    from gradio_client import Client
    result = Client("http://localhost:7860").predict(
        sentence="Two dogs run.", beam=4, api_name="/translation")

Limits, queue and refusals are those of the page: a refusal is raised as an error with the sentence
that the page would show.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import logging
import re
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.components import folded
from explorer.contract import labels
from explorer.contract.control_kinds import spell_value
from explorer.contract.lab import OpenLab
from explorer.contract.labels import NO_SUCH_VIEW, NOT_BY_LINK
from explorer.engine import Engine
from explorer.page import wiring
from explorer.page.answers import render_folded_view
from explorer.page.type_variables import R, S, T, V
from explorer.page.views import View
from models.explaining.errors import InputError, clean_for_sentence
from models.explaining.request_fields import (
    Characters,
    Choice,
    Number,
    Several,
    find_range,
    list_former_names,
)

if TYPE_CHECKING:
    from gradio import Blocks

    from explorer.page.program import Program


VIEWS = "views"  # the parameter that is no field of the request
SCALARS = (str, int, float, bool)
UNSET = "v=1"  # the query of a request whose fields all have their defaults
ROLE = re.compile(r"⟦\w:(.*?)⟧")
FACTS = ("answer", "ended", "lines", "changes", "notice", "warning")  # of the input bar

logger = logging.getLogger(__name__)


def place_endpoint(program: Program[R, S, V, T], lab: OpenLab, engine: Engine) -> None:
    """Place a lab's function on the page that is open."""
    gr.api(  # type: ignore[attr-defined]
        _make_handler(program, lab, engine),
        api_name=lab.slug,
        api_description=describe_endpoint(lab, program),
    )


def list_parameters(kind: Any) -> list[inspect.Parameter]:
    """Return the fields of a request as typed parameters.

    A field that is no text, number or boolean is spelled as in a link, for example
    ``silenced="cross.2.4,encoder.0.1"``. Every parameter may be spelled this way.
    """
    hints = typing.get_type_hints(kind)
    found = []
    for field in dataclasses.fields(kind):
        plain = hints[field.name] in SCALARS
        default, hint = (
            (field.default, hints[field.name]) if plain else (spell_value(field.default), str)
        )
        found.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default,
                annotation=hint,
            )
        )
    return found


def describe_endpoint(lab: OpenLab, program: Program[R, S, V, T]) -> str:
    """Return the endpoint's description of itself: the lab's sentence, and each parameter with its
    range."""
    labels = {control.field: control.label["en"] for control in reversed(program.controls)}
    lines = [
        f"{name}: {labels.get(name, name)}{_describe_range(program.kind, name)}"
        for name in (one.name for one in list_parameters(program.kind))
    ]
    drawn = ", ".join(collect_views(program))
    former = list_former_names(program.kind)
    return "\n".join(
        [
            lab.line["en"],
            *lines,
            f"{VIEWS}: names of views whose values are wanted too, of: {drawn}",
            *(f"{old}: former name of {name}" for old, name in former.items()),
        ]
    )


def collect_views(program: Program[R, S, V, T]) -> dict[str, View[R, S, V, T]]:
    """Return the views that have a value, by name: those that an answer draws, and those that are
    opened on demand."""
    return {view.name: view for view in program.views if view.draw or view.look}


def _read_view_names(program: Program[R, S, V, T], given: Any) -> list[str]:
    """Return the views that a script names. Raise InputError for an unknown view, and for a value
    that is no list of names."""
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError("malformed", **labels.MALFORMED)
    there = collect_views(program)
    wrong = next((name for name in names if name.strip() not in there), None)
    if wrong is not None:
        raise InputError(
            VIEWS,
            en=f"There is no view {clean_for_sentence(wrong)}; there are {', '.join(there)}.",
            zh=f"没有视图 {clean_for_sentence(wrong)}；可用的有 {'、'.join(there)}。",
        )
    return list(dict.fromkeys(name.strip() for name in names))


def _describe_range(kind: Any, name: str) -> str:
    allowed = find_range(kind, name)
    if isinstance(allowed, Number):
        return f", {allowed.least:g} to {allowed.most:g}"
    if isinstance(allowed, Choice | Several):
        return f", of: {', '.join(str(value) for value in allowed.values if value != '')}"
    return f", at most {allowed.most:,} characters" if isinstance(allowed, Characters) else ""


def _make_handler(
    program: Program[R, S, V, T], lab: OpenLab, engine: Engine
) -> Callable[..., Awaitable[dict[str, Any]]]:
    fields, former = list_parameters(program.kind), list_former_names(program.kind)

    async def handler(caller: gr.Request, *given: Any) -> dict[str, Any]:
        try:
            count = len(fields)
            views, names = given[count], [*(one.name for one in fields), *former.values()]
            values = (*given[:count], *given[count + 1 :])
            spelled = {
                name: _spell_value(value)
                for name, value in zip(names, values, strict=True)
                if value is not None
            }
            return await answer_script(
                program, lab, engine, spelled, views or [], wiring.read_session(caller)
            )
        except gr.Error:
            raise
        except Exception:
            logger.exception("a script could not be answered")
            raise _make_refusal(labels.DEFECT) from None

    # Gradio reads names, types and defaults from here.
    caller = inspect.Parameter(
        "caller", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request
    )
    views = inspect.Parameter(
        VIEWS, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=[], annotation=list[str]
    )
    # Former names come last, so that the place of each other parameter stays what it was.
    parameters = [caller, *fields, views]
    by_name = {one.name: one for one in fields}
    parameters += [by_name[name].replace(name=old, default=None) for old, name in former.items()]
    signed: Any = handler
    signed.__signature__ = inspect.Signature(parameters, return_annotation=dict[str, Any])
    signed.__annotations__ = {one.name: one.annotation for one in parameters} | {
        "return": dict[str, Any]
    }
    return handler


def _spell_value(value: Any) -> Any:
    """Return a value as a link spells it. A value that no link can carry stays as it is, and the
    codec refuses it."""
    held = wiring.bound_numbers(value)
    return spell_value(held) if isinstance(held, bool | int | float) else held


async def answer_script(
    program: Program[R, S, V, T],
    lab: OpenLab,
    engine: Engine,
    given: Mapping[str, Any],
    views: Sequence[str] = (),
    session: str = "",
) -> dict[str, Any]:
    """Return the answer to a script's request.

    given: {field: text}. A field that is left out has its default.
    views: names of views.

    The answer holds the link of the request, how the result came about, the answer as the input bar
    shows it, why it ends, the effects of the changes, and the values of the requested views. Raise
    gr.Error with the sentence of a refusal, in both languages.
    """
    try:
        names = _read_view_names(program, views)
    except InputError as error:
        raise _make_refusal(error.text) from None
    drawn = await program.render_finished_run(engine, UNSET, given, session)
    bar, change = drawn["ask"], _strip_roles(drawn["change"])
    if bar["state"] == "refused":
        raise _make_refusal(bar["error"])
    values = {name: await _value(program, engine, name, bar, drawn, session) for name in names}
    about = {"query", "plain", "fields", "task", "pick", "items"}
    return {
        "link": f"{lab.path}?{bar['query']}" if bar["query"] else None,
        "state": bar["state"],
        **bar["badge"],
        **{name: bar[name] for name in FACTS},
        "change": None
        if change["state"] == "empty"
        else {name: value for name, value in change.items() if name not in about},
        "views": values,
    }


def _make_refusal(text: Mapping[str, str]) -> gr.Error:
    return gr.Error("{en} {zh}".format(**text), print_exception=False)


async def _value(
    program: Program[R, S, V, T],
    engine: Engine,
    name: str,
    bar: Mapping[str, Any],
    drawn: Mapping[str, Any],
    session: str,
) -> Any:
    """Return a view's drawing of a finished run, as the answer brought it or as the page opens it
    on demand."""
    view = collect_views(program)[name]
    if view.draw and name in drawn:
        return drawn[name]
    if view.look is None:
        raise _make_refusal(
            {language: f"{name}: {said}" for language, said in NO_SUCH_VIEW.items()}
        )
    if not bar["query"]:
        raise _make_refusal({language: f"{name}: {said}" for language, said in NOT_BY_LINK.items()})
    value: Any = None
    async with contextlib.aclosing(
        render_folded_view(program, engine, view.look, {"run": bar["query"]}, session)
    ) as updates:
        async for update in updates:
            value = update
    if value["state"] == "refused":
        raise _make_refusal(
            {language: f"{name}: {said}" for language, said in value["error"].items()}
        )
    return _strip_roles(folded.with_drawings_as_text(value))


def _strip_roles(value: Any) -> Any:
    """Return the same value, its sentences without the marks ⟦q:…⟧ by which a page colours queries,
    keys and outputs."""
    if isinstance(value, Mapping):
        return {name: _strip_roles(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_strip_roles(inner) for inner in value]
    return ROLE.sub(r"\1", value) if isinstance(value, str) else value


def read_client_config(blocks: Blocks) -> dict[str, Any]:
    """Return the part of the site's configuration that `gradio_client` reads first: the endpoints,
    and nothing of the pages."""
    whole = blocks.get_config_file()
    open_ = [one for one in whole["dependencies"] if one["api_visibility"] == "public"]
    used = {number for one in open_ for number in (*one["inputs"], *one["outputs"])}
    return {
        **{
            name: whole[name]
            for name in ("version", "api_prefix", "protocol", "mode", "space_id", "enable_queue")
        },
        "connect_heartbeat": False,
        "components": [one for one in whole["components"] if one["id"] in used],
        "dependencies": open_,
    }
