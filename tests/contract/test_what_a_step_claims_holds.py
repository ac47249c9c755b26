"""What guided steps say of the shipped models is so: a model that is trained again may make a step untrue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.labs.music.rolls import SHORTEST
from explorer.labs.nonautoregressive import views as parallel
from explorer.labs.translation.views import ASKING, NEEDED, WHO, jobs, roles_of
from explorer.views import Found
from explorer.widgets.folded import Question
from models.music import explain as music
from models.music.records import CHORALES
from models.music.repeats import repeats
from models.nonautoregressive import explain as nonautoregressive
from models.nonautoregressive.records import EXAMPLES as PARALLEL
from models.nonautoregressive.records import Explanation, Joint
from models.translation import explain as translation
from models.translation.records import EXAMPLES as SENTENCES


def test_in_the_continued_chorale_relative_attention_goes_on_with_the_first_line_and_the_other_model_leaves_it() -> None:
    (seen,) = music.explain([next(one for one in CHORALES if one.mode == "continue")])
    assert isinstance(seen, music.Explanation)
    own = {}
    for made in seen.made:
        longest = max(repeats(made.notes, SHORTEST, voice=0), key=lambda one: len(one.first), default=None)
        own[made.variant] = 0 if longest is None else int((~made.given[made.at][longest.again]).sum())
    assert own["jsb_relative"] >= SHORTEST > own["jsb_transformer"]


def test_the_head_that_is_silenced_changes_the_words_and_most_heads_do_not() -> None:
    layers, heads = translation.load().model.config.n_layers, translation.load().model.config.n_heads
    each = [("cross", layer, head) for layer in range(layers) for head in range(heads)]
    plain, *silenced = translation.explain([SENTENCES[0], *(replace(SENTENCES[0], silenced=(head,)) for head in each)])
    other = {head for head, seen in zip(each, silenced, strict=True) if seen.text != plain.text}  # type: ignore[union-attr]
    assert NEEDED in other
    assert len(other) < len(each) / 4


def test_three_heads_ask_who_did_what_and_to_whom() -> None:
    (seen,) = translation.explain([ASKING])
    assert isinstance(seen, translation.Explanation)
    who = next(job for job in jobs(seen) if job["kind"] == "encoder" and job["job"] == "who")
    assert {"kind": "encoder", "head": f"{who['layer'] + 1}.{who['head'] + 1}", "row": str(who["row"]), "col": str(who["col"])} == WHO
    assert (seen.source[who["row"]], seen.source[who["col"]]) == ("catching", "dog")
    table: Any = roles_of(seen, ASKING, "live")["table"]
    assert len(table["rows"]) == 3 and all(max(row[1:]) > 0.5 for row in table["rows"])


def test_one_pass_says_a_piece_twice_and_of_ten_passes_the_last_does_not() -> None:
    once, ten = nonautoregressive.explain([replace(PARALLEL[0], passes=1), PARALLEL[2]])
    assert isinstance(once, Explanation) and isinstance(ten, Explanation)
    assert once.repeats[-1].any()
    assert ten.repeats[0].any() and not ten.repeats[-1].any() and (ten.settled == 0).mean() > 0.5


def test_two_neighbours_choose_the_same_piece_by_themselves_and_not_one_after_the_other() -> None:
    (seen,) = nonautoregressive.explain([replace(PARALLEL[0], passes=1)])
    assert isinstance(seen, Explanation)
    (both,) = nonautoregressive.neighbours([parallel.pair(Found(PARALLEL[0], seen), Question(""))])
    assert isinstance(both, Joint)
    at_once, in_turn = (divmod(int(part.argmax()), len(both.second)) for part in (both.product, both.joint))
    assert both.first[at_once[0]] == both.second[at_once[1]] and both.first[in_turn[0]] != both.second[in_turn[1]]
