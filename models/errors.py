"""Messages written for the visitor."""

from __future__ import annotations


class InputError(Exception):
    """What a visitor gave cannot be read: one sentence that says what was given and what is accepted.

    code: a stable key for tests and logs. en, zh: the sentence in both languages of the page.
    """

    def __init__(self, code: str, *, en: str, zh: str) -> None:
        super().__init__(en)
        self.code = code
        self.text: dict[str, str] = {"en": en, "zh": zh}

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.code, self.text["en"], self.text["zh"]))


def _rebuild(code: str, en: str, zh: str) -> InputError:
    return InputError(code, en=en, zh=zh)
