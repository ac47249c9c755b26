"""What guided steps say of the shipped models is so: a model that is trained again may make a step
untrue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.components.folded import Question
from explorer.labs.adaptive_span import views as adaptive
from explorer.labs.music.rolls import SHORTEST
from explorer.labs.nonautoregressive import views as parallel
from explorer.labs.translation.views import ASKING, NEEDED, WHO, draw_roles, find_jobs
from explorer.page import card_facts
from explorer.page.views import Found
from models.adaptive_span.saving import reaches
from models.music import explain as music
from models.music.records import CHORALES
from models.music.repeats import repeats
from models.nonautoregressive import explain as nonautoregressive
from models.nonautoregressive.records import EXAMPLES as PARALLEL
from models.nonautoregressive.records import Explanation, Joint
from models.rnn_attention import explain as recurrent
from models.rnn_attention.records import EXAMPLES as RECURRENT
from models.rnn_attention.records import NETWORKS, PRODUCTS, UNSCALED
from models.rnn_attention.records import Request as Sentence
from models.translation import explain as translation
from models.translation.path_records import NETWORKS as PATHS
from models.translation.records import EXAMPLES as SENTENCES
from tests.explorer.numbers import unpacked
from tests.explorer.spanned import SHAPE


def test_relative_attention_keeps_the_line() -> None:
    (seen,) = music.explain([next(one for one in CHORALES if one.mode == "continue")])
    assert isinstance(seen, music.Explanation)
    own = {}
    for made in seen.made:
        longest = max(
            repeats(made.notes, SHORTEST, voice=0), key=lambda one: len(one.first), default=None
        )
        own[made.variant] = (
            0 if longest is None else int((~made.given[made.at][longest.again]).sum())
        )
    assert own["jsb_relative"] >= SHORTEST > own["jsb_transformer"]


def test_the_silenced_head_changes_the_words() -> None:
    layers, heads = (
        translation.load().model.config.n_layers,
        translation.load().model.config.n_heads,
    )
    each = [("cross", layer, head) for layer in range(layers) for head in range(heads)]
    plain, *silenced = translation.explain(
        [SENTENCES[0], *(replace(SENTENCES[0], silenced=(head,)) for head in each)]
    )
    other = {head for head, seen in zip(each, silenced, strict=True) if seen.text != plain.text}  # type: ignore[union-attr]
    assert NEEDED in other
    assert len(other) < len(each) / 4


def test_three_heads_ask_who_did_what_and_to_whom() -> None:
    (seen,) = translation.explain([ASKING])
    assert isinstance(seen, translation.Explanation)
    who = next(job for job in find_jobs(seen) if job["kind"] == "encoder" and job["job"] == "who")
    assert {
        "kind": "encoder",
        "head": f"{who['layer'] + 1}.{who['head'] + 1}",
        "row": str(who["row"]),
        "col": str(who["col"]),
    } == WHO
    assert (seen.source[who["row"]], seen.source[who["col"]]) == ("catching", "dog")
    table: Any = draw_roles(seen, ASKING, "live")["table"]
    assert len(table["rows"]) == 3 and all(max(row[1:]) > 0.5 for row in table["rows"])


def test_one_pass_repeats_and_ten_do_not() -> None:
    once, ten = nonautoregressive.explain([replace(PARALLEL[0], passes=1), PARALLEL[2]])
    assert isinstance(once, Explanation) and isinstance(ten, Explanation)
    assert once.repeats[-1].any()
    assert ten.repeats[0].any() and not ten.repeats[-1].any() and (ten.settled == 0).mean() > 0.5


def test_neighbours_choose_alike_in_one_pass() -> None:
    (seen,) = nonautoregressive.explain([replace(PARALLEL[0], passes=1)])
    assert isinstance(seen, Explanation)
    (both,) = nonautoregressive.neighbours(
        [parallel.find_pair(Found(PARALLEL[0], seen), Question(""))]
    )
    assert isinstance(both, Joint)
    at_once, in_turn = (
        divmod(int(part.argmax()), len(both.second)) for part in (both.product, both.joint)
    )
    assert (
        both.first[at_once[0]] == both.second[at_once[1]]
        and both.first[in_turn[0]] != both.second[in_turn[1]]
    )


def test_spans_are_the_same_in_words_and_bars() -> None:
    kept = adaptive.first()
    assert kept is not None and (kept.seen.span, kept.seen.ramp) == (SHAPE.span, SHAPE.ramp)
    bars = reaches(kept.seen.z.mean(2), SHAPE)  # as the masks draw them
    run = adaptive.prepare(kept.seen, kept.request)
    model, *_ = adaptive.draw_text(run, kept.request, "stored")["models"]  # type: ignore[misc]
    assert np.array_equal(unpacked(model["ends"]), bars)
    said = adaptive.steps()[0]
    layer, head = (int(n) for n in np.unravel_index(int(bars.argmax()), bars.shape))
    assert f"head {layer + 1}·{head + 1} looks {bars.max():.0f} back" in said.say["en"]
    assert f"头 {layer + 1}·{head + 1} 往回看 {bars.max():.0f} 个" in said.say["zh"]
    assert f"at most {np.median(bars):.0f} characters" in said.say["en"]


@pytest.mark.parametrize("variant", PRODUCTS)
def test_undivided_scores_give_one_word_all_weight(variant: str) -> None:
    asked = [Sentence(RECURRENT[0].sentence, variant, divided) for divided in (True, False)]
    spread, largest = [], []
    for seen in recurrent.explain(asked):
        assert isinstance(seen, recurrent.Explanation)
        spread.append(float(np.ptp(seen.scores, axis=1).mean()))
        largest.append(float(seen.weights.max(1).mean()))
    assert spread[1] > 5 * spread[0] and largest[0] < 0.75 and largest[1] > 0.9
    known = card_facts.read_models("rnn_attention", NETWORKS)
    figure, unscaled = known[variant]["figure"], f"{variant}{UNSCALED}"
    assert figure["value"] >= 30 and figure["value"] - known[unscaled]["figure"]["value"] > 4.5
    assert figure["paired"][unscaled]["p"] < 0.05


def test_told_positions_do_not_bring_the_diagonal_back() -> None:
    known = card_facts.read_models("translation", PATHS)
    near, bleu, read = (
        {name: one["figure"][key] for name, one in known.items()}
        for key in ("diagonality", "value", "position_r2")
    )
    with_paths, without, told = PATHS[:3]
    assert near[with_paths][-1] > 0.03
    assert max(near[name][-1] for name in (without, told)) < 0.01
    assert abs(bleu[told] - bleu[without]) < 1.3 and bleu[with_paths] > bleu[told] + 20
    assert read[without][-1] < read[told][-1] < 0.5 < read[with_paths][-1]
