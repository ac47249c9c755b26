"""Numbers as they are printed in sentences, and the type of a rule about a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.support.truth.saying import Said

Check = Callable[["re.Match[str]", Said], str | None]
# the view, a pattern of its sentences, the check where the pattern is found
Rule = tuple[str, str, Check]

SUPER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
N = r"[−-]?\d[\d,]*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴-⁹]+)?"
PLACE = r"“(.*?)” \((−?\d+)\)"
HALF = 0.500001  # of the last printed digit


def number(text: str) -> float:
    """Return the value of a printed number: "1,370", "−0.82", "1.20·10⁻¹⁴"."""
    mantissa, _, power = text.replace(",", "").replace("−", "-").partition("·10")
    return float(mantissa) * 10.0 ** int(power.translate(SUPER) or 0)


def last_digit(text: str) -> float:
    """Return the value of one step of its last digit: 0.01 for "0.57"."""
    mantissa, _, power = text.replace(",", "").partition("·10")
    return 10.0 ** (int(power.translate(SUPER) or 0) - len(mantissa.partition(".")[2]))


def prints(text: str, value: Any, slack: float = 0.0) -> bool:
    """Return whether `value` may be printed in this form.

    slack: the allowed error beside the rounding.
    """
    return abs(number(text) - float(value)) <= HALF * last_digit(text) + slack


def unless(fits: bool, complaint: str) -> str | None:
    """Return the complaint, unless it fits."""
    return None if fits else complaint


def plain(text: str) -> str:
    """Return a sentence without the marks of its colours. The name of an output ⟦o:…⟧ stays marked
    where a number follows it."""
    text = re.sub(rf"⟦o:([^⟧]*)⟧(?= {N}(?: instead| as before))", r"⟨\1⟩", text)
    return re.sub(r"⟦\w:|⟧|[⁨⁩]", "", text)
