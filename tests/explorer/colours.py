"""How light colours are and how far apart, as WCAG 2.2 has it."""

from __future__ import annotations

from collections.abc import Sequence


def luminance(colour: str) -> float:
    """Relative luminance of "#RRGGBB", from 0 (black) to 1 (white) (WCAG 2.2)."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def mix(scale: Sequence[str], at: float) -> str:
    """The colour of a scale of evenly spaced stops at `at` in [0, 1], interpolated in sRGB as the
    browser does."""
    place = at * (len(scale) - 1)
    left = min(int(place), len(scale) - 2)
    part = place - left
    pairs = (
        (int(scale[left][i : i + 2], 16), int(scale[left + 1][i : i + 2], 16)) for i in (1, 3, 5)
    )
    return "#" + "".join(f"{round(a + (b - a) * part):02X}" for a, b in pairs)
