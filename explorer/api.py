"""Every lab from a script: an endpoint for each, its parameters the fields of the lab's request, through the same handler as the page.

    from gradio_client import Client
    found = Client("http://localhost:7860").predict(sentence="Two dogs run.", beam=4, api_name="/translation")

Limits, queue and refusals are those of the page: a refusal is raised as an error with the sentence that the page would show.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import gradio as gr
from gradio.events import api

from explorer import wiring
from explorer.controls import written
from explorer.engine import Engine
from explorer.lab import Lab
from models.fields import Characters, Choice, Number, Several, range_of

if TYPE_CHECKING:
    from gradio.blocks import Blocks

    from explorer.program import Program

R = TypeVar("R")
S = TypeVar("S")

VIEWS = "views"  # the parameter that is no field of the request
SCALARS = (str, int, float, bool)
UNSET = "v=1"  # the query of a request whose fields all have their defaults
ROLE = re.compile(r"⟦\w:(.*?)⟧")
FACTS = ("answer", "lines", "changes", "notice", "warning")  # of the input bar


def place(program: Program[R, S], lab: Lab, engine: Engine) -> None:
    """Places a lab's function on the page that is open."""
    api(_handler(program, lab, engine), api_name=lab.slug, api_description=described(lab, program))


def parameters(kind: Any) -> list[inspect.Parameter]:
    """The fields of a request as typed parameters. What is no text, number or boolean is spelled as in a link, so
    ``silenced="cross.2.4,encoder.0.1"``; every parameter may be so spelled."""
    hints = typing.get_type_hints(kind)
    found = []
    for field in dataclasses.fields(kind):
        plain = hints[field.name] in SCALARS
        default, hint = (field.default, hints[field.name]) if plain else (written(field.default), str)
        found.append(inspect.Parameter(field.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=hint))
    return found


def described(lab: Lab, program: Program[Any, Any]) -> str:
    """What the endpoint says of itself: the lab's sentence, and each parameter with its range."""
    labels = {control.field: control.label["en"] for control in reversed(program.controls)}
    lines = [f"{name}: {labels.get(name, name)}{_range(program.kind, name)}" for name in (one.name for one in parameters(program.kind))]
    drawn = ", ".join(view.name for view in program.views)
    return "\n".join([lab.line["en"], *lines, f"{VIEWS}: names of views whose values are wanted too, of: {drawn}"])


def _range(kind: Any, name: str) -> str:
    allowed = range_of(kind, name)
    if isinstance(allowed, Number):
        return f", {allowed.least:g} to {allowed.most:g}"
    if isinstance(allowed, Choice | Several):
        return f", of: {', '.join(str(value) for value in allowed.values if value != '')}"
    return f", at most {allowed.most:,} characters" if isinstance(allowed, Characters) else ""


def _handler(program: Program[R, S], lab: Lab, engine: Engine) -> Callable[..., Awaitable[dict[str, Any]]]:
    fields = parameters(program.kind)

    async def handler(caller: gr.Request, *given: Any) -> dict[str, Any]:
        *values, views = given
        spelled = {one.name: _spelled(value) for one, value in zip(fields, values, strict=True) if value is not None}
        return await told(program, lab, engine, spelled, views if isinstance(views, list) else [], wiring.session(caller))

    # Gradio reads names, types and defaults from here.
    caller = inspect.Parameter("caller", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request)
    views = inspect.Parameter(VIEWS, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=[], annotation=list[str])
    signed: Any = handler
    signed.__signature__ = inspect.Signature([caller, *fields, views], return_annotation=dict[str, Any])
    signed.__annotations__ = {one.name: one.annotation for one in [caller, *fields, views]} | {"return": dict[str, Any]}
    return handler


def _spelled(value: Any) -> Any:
    """A value as a link spells it. What no link can carry stays as it is, and the codec refuses it."""
    held = wiring.held(value)
    return written(held) if isinstance(held, bool | int | float) else held


async def told(
    program: Program[R, S], lab: Lab, engine: Engine, given: Mapping[str, Any], views: Sequence[Any] = (), session: str = ""
) -> dict[str, Any]:
    """What a script is told of one request. given: {field: text}; what is left out has its default. views: names of views.

    Returns the link of the request, how the result came about, the answer as the input bar shows it, what the changes do, and the values
    of the views that were asked for. Raises gr.Error with the sentence of a refusal, in both languages.
    """
    drawn = await program.finished(engine, UNSET, given, session)
    bar, change = drawn["ask"], _without_roles(drawn["change"])
    if bar["state"] == "refused":
        raise gr.Error("{en} {zh}".format(**bar["error"]), print_exception=False)
    about = {"query", "plain", "fields", "task", "pick", "items"}
    return {
        "link": f"{lab.path}?{bar['query']}" if bar["query"] else None,
        "state": bar["state"],
        **bar["badge"],
        **{name: bar[name] for name in FACTS},
        "change": None if change["state"] == "empty" else {name: value for name, value in change.items() if name not in about},
        "views": {name: drawn.get(name) for name in dict.fromkeys(views) if isinstance(name, str) and name in program.widgets},
    }


def _without_roles(value: Any) -> Any:
    """The same value, its sentences without the marks ⟦q:…⟧ by which a page colours queries, keys and outputs."""
    if isinstance(value, Mapping):
        return {name: _without_roles(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_roles(inner) for inner in value]
    return ROLE.sub(r"\1", value) if isinstance(value, str) else value


def config(blocks: Blocks) -> dict[str, Any]:
    """What `gradio_client` reads of the site before it asks: the endpoints, and nothing of the pages."""
    whole = blocks.get_config_file()
    open_ = [one for one in whole["dependencies"] if one["api_visibility"] == "public"]
    used = {number for one in open_ for number in (*one["inputs"], *one["outputs"])}
    return {
        **{name: whole[name] for name in ("version", "api_prefix", "protocol", "mode", "space_id", "enable_queue")},
        "connect_heartbeat": False,
        "components": [one for one in whole["components"] if one["id"] in used],
        "dependencies": open_,
    }
