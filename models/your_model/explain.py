"""Explanations of a user's own model: it is opened strictly, run on one text, and traced, with the
code of transformers alone."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from models.checkpoints.device import answer_without_gradients, choose_device
from models.data.vocabulary import spell_piece
from models.explaining.arrays import freeze
from models.explaining.errors import InputError
from models.explaining.request_fields import LOST, check_request, read_passage
from models.explaining.shared_records import LIMIT, TOKEN
from models.your_model.records import (
    KINDS,
    MOST_PARAMETERS,
    MOST_WRITTEN,
    SHAPES,
    Explanation,
    Facts,
    Guesses,
    Request,
    read_facts,
    too_large,
)

# (model, a layer's states, whether it is the last layer) -> logits. The last states are already
# normed if a model ends with a norm.
LENS: Mapping[str, Callable[[Any, Tensor, bool], Tensor]] = {
    "bert": lambda model, states, _last: model.cls(states),
    "distilbert": lambda model, states, _last: model.vocab_projector(
        model.vocab_layer_norm(model.activation(model.vocab_transform(states)))
    ),
    **dict.fromkeys(
        ("roberta", "xlm-roberta", "camembert"), lambda model, states, _last: model.lm_head(states)
    ),
    "electra": lambda model, states, _last: model.generator_lm_head(
        model.generator_predictions(states)
    ),
    "gpt2": lambda model, states, last: model.lm_head(
        states if last else model.transformer.ln_f(states)
    ),
    **dict.fromkeys(
        ("t5", "mt5"),
        lambda model, states, last: _of_t5(
            model, states if last else model.decoder.final_layer_norm(states)
        ),
    ),
}


def _of_t5(model: Any, states: Tensor) -> Tensor:
    scaled = getattr(model.config, "scale_decoder_outputs", model.config.tie_word_embeddings)
    logits: Tensor = model.lm_head(states * model.model_dim**-0.5 if scaled else states)
    return logits


@dataclass(frozen=True)
class Opened:
    """A model ready to run.

    told: whether its logits are trained, so that there is a logit lens.
    """

    facts: Facts
    model: Any
    tokenizer: Any
    # The tokenizer's mark at the beginning of a word: "##" (before other pieces), "▁", or "" if its
    # decoder handles it.
    marks: str
    told: bool

    def spell_tokens(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """Return readable tokens, with a space in front where the tokenizer put one."""
        named = [self.tokenizer.id_to_token(number) or "" for number in numbers]
        if self.marks == "##":
            return tuple(named)
        if self.marks == "▁":
            return tuple(
                spell_piece(name) if name.startswith("<0x") else name.replace("▁", " ")
                for name in named
            )
        decoded = [self.tokenizer.decode([number], skip_special_tokens=False) for number in numbers]
        return tuple(
            spell_piece(name) if LOST in text else text or name
            for text, name in zip(decoded, named, strict=True)
        )

    def begins(self, tokens: Sequence[str]) -> tuple[bool, ...]:
        """Return whether a word starts with each token."""
        return tuple(
            at == 0 or (not token.startswith("##") if self.marks == "##" else token[:1] == " ")
            for at, token in enumerate(tokens)
        )


@cache
def open_model() -> Opened:
    """Open the model with which this process was started.

    Raise InputError if its weights do not fit its config.
    """
    facts = read_facts()
    try:
        import transformers
        from tokenizers import Tokenizer
    except ImportError as error:
        missing = InputError(
            "missing",
            en=f"A model of your own needs the package {error.name}: pip install {error.name}.",
            zh=f"打开您自己的模型需要软件包 {error.name}：pip install {error.name}。",
        )
        raise missing from None
    try:
        kind: Any = getattr(transformers, SHAPES[facts.model_type][1])
        config = kind.config_class.from_pretrained(facts.folder, local_files_only=True)
        with torch.device("meta"):
            claimed = sum(one.numel() for one in kind._from_config(config).parameters())
        if claimed > MOST_PARAMETERS:
            raise too_large(claimed, MOST_PARAMETERS)
        with warnings.catch_warnings(action="ignore"):
            model, info = kind.from_pretrained(
                facts.folder,
                config=config,
                dtype=torch.float32,
                attn_implementation="eager",
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
        tokenizer = Tokenizer.from_file(str(facts.folder / "tokenizer.json"))
    except InputError:
        raise
    except Exception as error:
        raise _unfit(type(error).__name__) from error
    lacking = sorted(info["missing_keys"])
    inside = f"{kind.base_model_prefix}."
    of_body = [
        key
        for key in lacking
        if key.startswith(inside) or (facts.shape == "t5" and not key.startswith("lm_head"))
    ]
    if of_body or info["mismatched_keys"]:
        raise _unfit(str((of_body or sorted(map(str, info["mismatched_keys"])))[0]))
    if tokenizer.get_vocab_size() > config.vocab_size:
        raise _unfit("tokenizer.json")
    _try(model, facts.shape)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    names = tokenizer.get_vocab()
    marks = next(
        (
            mark
            for mark in ("##", "▁")
            if any(name.startswith(mark) and name != mark for name in names)
        ),
        "",
    )
    return Opened(
        facts, model.requires_grad_(False).eval().to(choose_device()), tokenizer, marks, not lacking
    )


@torch.no_grad()
def _try(model: Any, shape: str) -> None:
    """Run the model on two tokens.

    Raise InputError if its config describes a network that cannot run.
    """
    tokens = torch.zeros((1, 2), dtype=torch.long)
    try:
        model.eval()
        (
            model(tokens, decoder_input_ids=torch.tensor([[_first_written(model)]]))
            if shape == "t5"
            else model(tokens)
        )
    except Exception as error:
        raise _unfit(type(error).__name__) from error


def _unfit(what: str) -> InputError:
    return InputError(
        "unfit",
        en=(
            f"The files of this model do not fit together ({what}): weights, config.json and"
            " tokenizer.json must be of one model."
        ),
        zh=f"该模型的文件互不相符（{what}）：权重、“config.json”与“tokenizer.json”必须属于同一个模型。",
    )


@answer_without_gradients
def explain(request: Request) -> Explanation:
    """Explain a text.

    Raise InputError if the text is empty or too long, or if the model cannot be opened.
    """
    check_request(request)
    text = read_passage(request.text)
    it = open_model()
    shape, least = it.facts.shape, it.facts.least
    # Tokenizers whose tokens include the space before a word: a trailing space belongs to the next
    # token.
    if shape == "gpt2":
        text = text.removesuffix(" ")
    numbers = it.tokenizer.encode(text).ids
    if not least <= len(numbers) <= it.facts.tokens:
        raise InputError(
            "tokens",
            en=(
                f"Your text has {len(numbers)} {'token' if len(numbers) == 1 else 'tokens'};"
                f" {least} to {it.facts.tokens} can be shown."
            ),
            zh=f"您的文本有 {len(numbers)} 个词元；可以显示 {least} 到 {it.facts.tokens} 个。",
        )
    source, read = it.spell_tokens(numbers), torch.tensor([numbers], device=it.model.device)
    watched: dict[str, Any] = {"output_attentions": True, "output_hidden_states": True}
    target: tuple[str, ...] = ()
    start = reason = ""
    if shape == "t5":
        written, begin = _write_output(it.model, read)
        text = str(it.tokenizer.decode(written))
        reason = TOKEN if written[-1] in _stops(it.model) else LIMIT
        target, start = it.spell_tokens(written), it.spell_tokens([begin])[0]
        seen = it.model(
            input_ids=read,
            decoder_input_ids=torch.tensor([[begin, *written[:-1]]], device=read.device),
            **watched,
        )
        maps = {
            "encoder": seen.encoder_attentions,
            "decoder": seen.decoder_attentions,
            "cross": seen.cross_attentions,
        }
        states, stands, above = seen.decoder_hidden_states, written, (start, *target[:-1])
    else:
        seen = it.model(read, **watched)
        maps, states = {KINDS[shape][0]: seen.attentions}, seen.hidden_states
        stands, above = (numbers[1:], source[:-1]) if shape == "gpt2" else (numbers, source)
    return Explanation(
        source,
        it.begins(source),
        target,
        it.begins(target),
        start,
        {kind: freeze(torch.cat(each_)) for kind, each_ in maps.items()},
        (
            _lens(it, [one[0, : len(stands)] for one in states[1:]], stands, above)
            if it.told
            else None
        ),
        text,
        reason,
    )


def _first_written(model: Any) -> int:
    """Return the token with which the decoder starts.

    Raise TypeError if the config names none.
    """
    first = next(
        n
        for n in (model.config.decoder_start_token_id, model.config.pad_token_id, 0)
        if n is not None
    )
    return operator.index(first)


def _stops(model: Any) -> set[int]:
    """Return the stop tokens of a model: its config names one, a list of them, or none."""
    named = [model.config.eos_token_id, model.generation_config.eos_token_id]
    return {
        one
        for each_ in named
        for one in (each_ if isinstance(each_, list | tuple) else [each_])
        if isinstance(one, int)
    }


def _write_output(model: Any, read: Tensor) -> tuple[list[int], int]:
    """Return the greedy output of the decoder up to a stop token, and the token with which it
    starts."""
    begin = _first_written(model)
    encoded, cache_, written, stops = model.encoder(read), None, [begin], _stops(model)
    while len(written) <= MOST_WRITTEN and (len(written) == 1 or written[-1] not in stops):
        step = torch.tensor([written[-1:]], device=read.device)
        out = model(
            encoder_outputs=encoded, decoder_input_ids=step, past_key_values=cache_, use_cache=True
        )
        cache_ = out.past_key_values
        written.append(int(out.logits[0, -1].argmax()))
    return written[1:], begin


def _lens(it: Opened, states: list[Tensor], stands: Sequence[int], above: Sequence[str]) -> Guesses:
    """Return the predictions of each layer.

    states: of each layer, (position, d_model).
    """
    best, nats, numbers = [], [], []
    at = torch.tensor(stands, device=states[0].device)[:, None]
    for layer, x in enumerate(states, 1):
        logits = LENS[it.facts.model_type](it.model, x, layer == len(states))
        numbers.append(logits.argmax(-1).tolist())
        best.append(it.spell_tokens(numbers[-1]))
        nats.append(-logits.log_softmax(-1).gather(-1, at)[:, 0])
    ids = freeze(numbers, np.int64), freeze(stands, np.int64)
    return Guesses(
        tuple(above), it.spell_tokens(stands), tuple(best), *ids, freeze(torch.stack(nats))
    )
