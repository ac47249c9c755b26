"""Describe in one sentence, in both languages, how a file was changed so that a model can read
it."""

from __future__ import annotations

Said = list[dict[str, str]]  # the changes made to a file, in both languages


def describe_changes(what: dict[str, str], said: Said) -> dict[str, str] | None:
    """Return one sentence about all changes that were made to a file; None where there is none.
    what: the file, at the beginning of the sentence."""
    if not said:
        return None
    done = {"en": ", ".join(one["en"] for one in said), "zh": "、".join(one["zh"] for one in said)}
    return {"en": f"{what['en']}: {done['en']}.", "zh": f"{what['zh']}：{done['zh']}。"}
