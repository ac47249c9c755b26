"""What guided steps say of the shipped models is so: a model that is trained again may make a step untrue."""

from __future__ import annotations

from explorer.labs.music.rolls import SHORTEST
from models.music import explain as music
from models.music.records import CHORALES
from models.music.repeats import repeats


def test_in_the_continued_chorale_relative_attention_goes_on_with_the_first_line_and_the_other_model_leaves_it() -> None:
    (seen,) = music.explain([next(one for one in CHORALES if one.mode == "continue")])
    assert isinstance(seen, music.Explanation)
    own = {}
    for made in seen.made:
        longest = max(repeats(made.notes, SHORTEST, voice=0), key=lambda one: len(one.first), default=None)
        own[made.variant] = 0 if longest is None else int((~made.given[made.at][longest.again]).sum())
    assert own["jsb_relative"] >= SHORTEST > own["jsb_transformer"]
