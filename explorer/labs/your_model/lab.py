"""The page of a user's own model: attention, logit lens and bertviz of the model that `--model`
names. Its texts stand here too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from explorer.components import input_bar
from explorer.components.card import TitleFigure
from explorer.contract import shared_texts as shared
from explorer.contract.control_kinds import SentenceControl
from explorer.contract.controls import spell_query
from explorer.contract.lab import FIGURE, name_shared_part
from explorer.contract.labels import CARD as CARD_LABELS
from explorer.contract.labels import SIZES, Text, fill_text, quote_text
from explorer.contract.labels import text as _
from explorer.figures import attention
from explorer.page.lab import Lab, Paper
from explorer.page.program import About, AnswerBar
from explorer.page.views import view_in_bertviz, view_on_stage
from explorer.panels.translation import cut_off
from explorer.values.packing import pack_array
from models.your_model.records import (
    MOST_PARAMETERS,
    MOST_TOKENS,
    Explanation,
    Facts,
    Request,
    read_facts,
    shorten,
)

Value = dict[str, object]


TITLE: Final = _("Your model", "您的模型")
LINE: Final = _(
    "Your own model reads your text; you see each of its heads, and what each layer would say.",
    "您带来的模型读您的文本；它的每个头、每一层会说什么，都看得见。",
)
CARD: Final = _("The model that\nyou bring.", "您带来的模型。")
REGION: Final = _("Text and model", "文本与模型")
RUN: Final = _("Read", "阅读")
TEXT: Final = _("Text, up to {tokens} tokens", "文本，最多 {tokens} 个词元")
SIZE: Final = _("layers × heads", "层 × 头")
FILE: Final = shared.MODEL
KIND: Final = _("architecture", "架构")
KINDS: Final[Mapping[str, tuple[Text, Text]]] = {
    "encoder": (
        shared.ENCODER_SELF,
        _("Which tokens does a token look at?", "一个词元看向哪些词元？"),
    ),
    "decoder": (
        shared.DECODER_SELF,
        _("Which earlier tokens does a token look at?", "一个词元看向之前的哪些词元？"),
    ),
    "cross": (
        shared.CROSS,
        _(
            "Which token of the text does each written token look at?",
            "每个写出的词元看向文本中的哪个词元？",
        ),
    ),
}
READ, WRITTEN, BEFORE = shared.TEXT, _("written", "写出的"), _("written so far", "已写出的")
TOWER: Final = {
    "title": shared.WHAT_WOULD_EACH_LAYER_SAY,
    "empty": _(
        "The logit lens appears here once a text is read, if the weights have an output layer"
        " for tokens.",
        "读过文本后这里是 logit 透镜，前提是权重里有词元的输出层。",
    ),
}
LENS: Final = _("logit lens", "logit 透镜")
PROSE: Final = _(
    "**{name}** is a `{kind}` of transformers with {parameters} parameters, opened by `python"
    " app.py --model`. Its safetensors are read and no pickle, its config and its"
    " tokenizer.json; none of its own code runs.\n\n- A folder, or a model of the Hub pinned to"
    " a revision: `--model owner/name@REVISION`. Without a network it must be in the cache.\n-"
    " At most {most} parameters and {tokens} tokens; shapes of BERT, GPT-2 and T5. What a T5"
    " writes is the likeliest token every time.\n- A GPT-2 does not read a space at the very end"
    " of a text: it belongs to the token that would follow.\n- The weights are those of"
    " `output_attentions`. The logit lens reads each layer with the last one's norm and readout,"
    " for which lower layers were never trained; a BERT guesses the token at that place, visible"
    " or masked.\n- Guided steps and measured figures are left out: they speak of other weights.",
    "**{name}** 是 transformers 的 `{kind}` 模型，参数 {parameters} 个，由“python app.py"
    " --model”打开。只读取 safetensors（不读 pickle）、“config.json”与“tokenizer.json”；不运行模"
    "型自带的任何代码。\n\n- 可以是文件夹，也可以是锁定版本的 Hub 模型：“--model owner/name@"
    "REVISION”。没有网络时它必须已在缓存中。\n- 最多 {most} 个参数、{tokens} 个词元；形状为"
    " BERT、GPT-2 或 T5。T5 每次写出最可能的词元。\n- GPT-2 不读文本末尾的那个空格：它属于后面将"
    "出现的词元。\n- 权重即 `output_attentions` 的权重。logit 透镜用最后一层的归一化与输出层来读"
    "每一层，低层从未为此训练过；BERT 猜的是该位置上的词元，无论它可见还是被掩码遮住。\n- 这里没"
    "有引导步骤和测得的数据，因为它们说的是别的权重。",
)
PAPERS: Final = {
    "bert": Paper(
        2018,
        "BERT: Pre-training of Deep Bidirectional Transformers",
        "Devlin et al.",
        "1810.04805",
    ),
    "gpt2": Paper(
        2019, "Language Models are Unsupervised Multitask Learners", "Radford et al.", ""
    ),
    "t5": Paper(
        2019,
        "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
        "Raffel et al.",
        "1910.10683",
    ),
}
ANCESTORS: Final = {
    "bert": ("translation",),
    "gpt2": ("language_model",),
    "t5": ("translation",),
}
EQUATIONS: Final = {
    "bert": "softmax({query:Q}{key:K}{sup:⊤}/{root:d_k}) {value:V}",
    "gpt2": "softmax({query:Q}{key:K}{sup:⊤}/{root:d_k} + mask) {value:V}",
    "t5": "softmax({query:Q}{key:K}{sup:⊤} + bias(i − j)) {value:V}",
}
SPOKEN: Final = _(
    "the softmax of queries times keys weighs the values", "查询乘以键，经 softmax 后给值加权"
)


@dataclass(frozen=True)
class YourTexts:
    """The texts that every lab has, as `explorer.page.lab.LabTexts` names them."""

    TITLE: Text
    SHORT: Text
    LINE: Text
    CARD: Text
    EQUATION: str


def list_examples(known: Facts) -> tuple[str, ...]:
    """Return example texts that suit a model's shape, each cut to what the model can read."""
    return tuple(dict.fromkeys(shorten(known, text) for text in _list_examples(known)))


def _list_examples(known: Facts) -> tuple[str, ...]:
    if known.shape == "t5":
        return (
            "translate English to German: The house is wonderful.",
            "The cat sat on the mat because it was tired.",
            "A dog and a man run.",
        )
    if known.shape == "gpt2" or not known.mask:
        return (
            "The cat sat on the mat because it was tired.",
            "When Mary and John went to the shop, John gave a drink to Mary.",
            "one two three four one two three four",
        )
    return (
        f"The cat sat on the {known.mask} because it was tired.",
        f"Paris is the capital of {known.mask}.",
        "The trophy does not fit into the suitcase because it is too large.",
    )


def strip_marks(token: str) -> str:
    """Return a token without the marks of its tokenizer."""
    return token.removeprefix("##").strip(" ") or token


def list_attentions(explanation: Explanation) -> list[attention.Kind]:
    """Return the attentions of a run, as transformers has them."""
    source, target = (
        (tuple(map(strip_marks, names)), spaces)
        for names, spaces in (
            (explanation.source, explanation.source_space),
            (explanation.target, explanation.target_space),
        )
    )
    before = ((strip_marks(explanation.start), *target[0][:-1]), (True, *target[1][:-1]))
    found = []
    for key, weights in explanation.maps.items():
        alone = key == "decoder" and not target[0]
        (queries, query_space), (keys, key_space) = {
            "cross": (target, source),
            "decoder": (target, before),
        }.get(key, (source, source))
        if alone:
            queries, query_space, keys, key_space = *source, *source
        roles = (WRITTEN if queries is target[0] else READ, BEFORE if keys is before[0] else READ)
        first = -1 if keys is before[0] else 0
        found.append(
            attention.Kind(
                key,
                KINDS[key][0],
                weights,
                queries,
                keys,
                query_space,
                key_space,
                mask="causal" if key == "decoder" else None,
                through="encoder" if key == "cross" else None,
                question=KINDS[key][1],
                roles=roles,
                first_key=first,
            )
        )
    return found


def draw_attention(explanation: Explanation, request: Request, state: str) -> Value:
    """Draw the attention view."""
    return attention.draw_attention(
        list_attentions(explanation), query=spell_query(request), state=state, silences=False
    )


def draw_tower(explanation: Explanation, request: Request, state: str) -> Value | None:
    """Draw the guess of each layer, by the logit lens; None where there is none."""
    lens = explanation.lens
    if lens is None:
        return None
    gain = np.array(lens.nats[0] - lens.nats[-1])
    bits = (lens.nats / np.float32(np.log(2))).astype(np.float32)
    return {
        "state": state,
        "query": spell_query(request),
        "symbols": list(lens.stands),
        "read": list(lens.read),
        "given": len(lens.stands),
        "pieces": True,
        "reads": set(explanation.maps) == {"encoder"},
        "sets": [
            {
                "key": "lens",
                "name": dict(LENS),
                "best": [list(row) for row in lens.best],
                "right": (lens.numbers == lens.true).tolist(),
                "bits": pack_array(bits, unit=False),
            }
        ],
        "pick": {"pos": int(gain.argmax())},
    }


def describe_answer(explanation: Explanation, _request: Request) -> Value:
    """Return the text that a decoder behind an encoder has written, or else the text as the model
    reads it: each piece is a row of the attention."""
    tokens, spaces = (
        (explanation.target, explanation.target_space)
        if explanation.target
        else (explanation.source, explanation.source_space)
    )
    return input_bar.describe_pieces(tuple(map(strip_marks, tokens)), spaces, text=explanation.text)


def describe_endings(explanation: Explanation, _request: Request) -> list[Value]:
    """Return why the text of a decoder behind an encoder ends."""
    return (
        [input_bar.describe_ending(explanation.reason, len(explanation.target), SIZES["tokens"])]
        if explanation.reason
        else []
    )


def build_lab() -> Lab[Request, Explanation]:
    """Return the declaration of the lab whose model this process was started with. Raise InputError
    where it cannot be shown."""
    known = read_facts()
    examples = tuple(Request(text) for text in list_examples(known))
    number = f"{known.parameters:,}"
    prose = fill_text(
        PROSE,
        name=known.name,
        kind=known.model_type,
        parameters=number,
        most=f"{MOST_PARAMETERS:,}",
        tokens=MOST_TOKENS,
    )
    pairs = (
        TitleFigure(FILE, known.name),
        TitleFigure(KIND, known.model_type),
        TitleFigure(CARD_LABELS["parameters"], number),
        TitleFigure(SIZE, f"{known.layers} × {known.heads}"),
    )
    controls = (
        SentenceControl("text", fill_text(TEXT, tokens=known.tokens), placeholder=examples[0].text),
    )
    return Lab(
        slug="your_model",
        paper=PAPERS[known.shape],
        licence="as the model's own",
        ancestors=ANCESTORS[known.shape],
        changed="reading" if known.shape == "bert" else "input",
        texts=YourTexts(TITLE, TITLE, LINE, CARD, EQUATIONS[known.shape]),
        network=(
            name_shared_part(shared.THE_TEXT, "ask"),
            name_shared_part(shared.ATTENTION, "attention"),
            name_shared_part(shared.LAYERS, "tower"),
        ),
        request=Request,
        explain="models.your_model.explain:explain",
        controls=controls,
        views=(
            view_on_stage("attention", draw_attention, at="above"),
            view_on_stage("tower", draw_tower, TOWER, at="below"),
            view_in_bertviz(("head", "model"), list_attentions),
        ),
        bar=AnswerBar(
            REGION,
            RUN,
            answer=describe_answer,
            describe_endings=describe_endings,
            describe_warning=lambda request, seen: cut_off(describe_endings(seen, request)),
        ),
        about=About(
            quote_text(PAPERS[known.shape].authors), SPOKEN, lambda: pairs, lambda: dict(prose)
        ),
        change=None,
        examples=examples,
        titles=[quote_text(one.text) for one in examples],
        first=lambda: None,
        thumbnail=lambda _explanation: None,
        steps=lambda: (),
        interventions={},
        exports=dict.fromkeys(("attention", "tower"), FIGURE),
        is_shipped=False,
    )
