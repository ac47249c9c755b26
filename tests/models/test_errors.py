"""Messages for visitors."""

from __future__ import annotations

import pickle

from models.errors import InputError


def test_an_input_error_reads_as_its_english_sentence_and_survives_a_process_border() -> None:
    error = InputError("empty", en="The text is empty.", zh="文本为空。")
    assert str(error) == "The text is empty."
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.text) == (error.code, error.text)
