"""Numbers as they are printed in sentences, and what a rule about a sentence is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from benchmarks.truth.saying import Said

Check = Callable[["re.Match[str]", Said], str | None]
Rule = tuple[str, str, Check]  # the view, a pattern of its sentences, what is checked where that is found

SUPER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
N = r"[−-]?\d[\d,]*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴-⁹]+)?"
PLACE = r"“(.*?)” \((−?\d+)\)"
HALF = 0.500001  # of the last printed digit


def number(text: str) -> float:
    """A printed number: "1,370", "−0.82", "1.20·10⁻¹⁴"."""
    mantissa, _, power = text.replace(",", "").replace("−", "-").partition("·10")
    return float(mantissa) * 10.0 ** int(power.translate(SUPER) or 0)


def last_digit(text: str) -> float:
    """What one step of its last digit is worth: 0.01 for "0.57"."""
    mantissa, _, power = text.replace(",", "").partition("·10")
    return 10.0 ** (int(power.translate(SUPER) or 0) - len(mantissa.partition(".")[2]))


def prints(text: str, value: Any, slack: float = 0.0) -> bool:
    """May `value` be printed so? slack: by how much it may be off beside the rounding."""
    return abs(number(text) - float(value)) <= HALF * last_digit(text) + slack


def unless(fits: bool, complaint: str) -> str | None:
    """The complaint, unless it fits."""
    return None if fits else complaint


def plain(text: str) -> str:
    """A sentence without the marks of its colours; the name of what came out ⟦o:…⟧ stays marked where a number follows it."""
    text = re.sub(rf"⟦o:([^⟧]*)⟧(?= {N}(?: instead| as before))", r"⟨\1⟩", text)
    return re.sub(r"⟦\w:|⟧|[⁨⁩]", "", text)
