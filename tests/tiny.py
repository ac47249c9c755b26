"""Tiny random models of transformers as folders: config, safetensors and a tokenizer, as somebody
brings them along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

TEXT = "the cat sat on the mat because it was tired"
SIZES: dict[str, dict[str, Any]] = {
    "bert": {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    },
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    "gpt2": {"n_embd": 16, "n_layer": 3, "n_head": 2, "bos_token_id": 1, "eos_token_id": 2},
    "t5": {
        "d_model": 16,
        "d_kv": 8,
        "num_layers": 2,
        "num_heads": 2,
        "d_ff": 32,
        "decoder_start_token_id": 0,
    },
}
for _like_bert in ("roberta", "xlm-roberta", "camembert", "electra"):
    SIZES[_like_bert] = (
        SIZES["bert"] | {"embedding_size": 16} if _like_bert == "electra" else SIZES["bert"]
    )
SIZES["mt5"] = SIZES["t5"]
CLASSES = {
    "bert": "BertForMaskedLM",
    "distilbert": "DistilBertForMaskedLM",
    "roberta": "RobertaForMaskedLM",
    "xlm-roberta": "XLMRobertaForMaskedLM",
    "camembert": "CamembertForMaskedLM",
    "electra": "ElectraForMaskedLM",
    "gpt2": "GPT2LMHeadModel",
    "t5": "T5ForConditionalGeneration",
    "mt5": "MT5ForConditionalGeneration",
}


def tokenizer(kind: str) -> Tokenizer:
    """Of words and letters, as the tokenizers of this kind spell them."""
    words = [*dict.fromkeys(TEXT.split())]
    letters = [chr(code) for code in range(97, 123)] + [*".,:!?ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    if kind == "gpt2":
        names = ["<unk>", "<s>", "<e>", *(f"Ġ{word}" for word in words), *words, *letters, "Ġ"]
        made = Tokenizer(models.WordLevel({name: at for at, name in enumerate(names)}, "<unk>"))
        made.pre_tokenizer, made.decoder = (
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            decoders.ByteLevel(),
        )
    elif kind in {"t5", "mt5"}:
        names = ["<pad>", "</s>", "<unk>", *(f"▁{word}" for word in words), *letters, "▁"]
        made = Tokenizer(models.Unigram([(name, -float(at)) for at, name in enumerate(names)], 2))
        made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        made.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    else:
        names = [
            "[PAD]",
            "[CLS]",
            "[SEP]",
            "[UNK]",
            "[MASK]",
            *words,
            *letters,
            *(f"##{letter}" for letter in letters),
        ]
        made = Tokenizer(
            models.WordPiece({name: at for at, name in enumerate(names)}, unk_token="[UNK]")
        )
        made.pre_tokenizer, made.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
        made.add_special_tokens(["[MASK]"])
        made.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
        )
    return made


def folder(where: Path, kind: str, *, head: bool = True, **changed: Any) -> Path:
    """A model of this kind, saved. head: with its output layer. changed: further values of its
    config."""
    torch.manual_seed(7)
    spelled = tokenizer(kind)
    name = (
        CLASSES[kind]
        if head
        else CLASSES[kind].replace("ForMaskedLM", "Model").replace("LMHead", "")
    )
    config = getattr(transformers, CLASSES[kind]).config_class(
        **{"vocab_size": spelled.get_vocab_size()} | SIZES[kind] | changed
    )
    model = getattr(transformers, name)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)  # random weights of this size alone give maps that are nearly even
    model.save_pretrained(where)
    spelled.save(str(where / "tokenizer.json"))
    return where
