"""What guided steps say of the shipped models is so: a model that is trained again may make a step untrue."""

from __future__ import annotations

from dataclasses import replace

from explorer.labs.music.rolls import SHORTEST
from explorer.labs.translation.views import NEEDED
from models.music import explain as music
from models.music.records import CHORALES
from models.music.repeats import repeats
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
