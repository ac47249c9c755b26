"""How figures are measured and told."""

from __future__ import annotations

import importlib
import json
import types

import pytest
import torch

from benchmarks import __main__ as command
from benchmarks import family
from benchmarks.measure import Bound, Report, median, peak_bytes, ratio, threads, time_in_turns

CPU = torch.device("cpu")


def test_sides_are_measured_in_alternation() -> None:
    calls: list[str] = []
    seconds = time_in_turns(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, CPU, calls=2, rounds=5
    )
    assert len(seconds["a"]) == len(seconds["b"]) == 5
    assert "".join(calls[4:12]) == "abbabaab"  # after two unmeasured calls of each


def test_a_ratio_is_the_median_of_the_ratios_within_rounds() -> None:
    seconds = {"slow": [2.0, 20.0, 9.0], "fast": [1.0, 10.0, 3.0]}
    assert ratio(seconds, "slow", "fast") == 2.0
    assert median(seconds["slow"]) == 9.0


@pytest.mark.parametrize(
    ("bound", "figure", "reached"),
    [(Bound(1.2), 1.2, True), (Bound(1.2), 1.3, False), (Bound(6, at_least=True), 5, False)],
)
def test_a_bound_says_which_way_it_goes(bound: Bound, figure: float, reached: bool) -> None:
    assert bound.holds(figure) is reached


def test_threads_are_set_for_a_while() -> None:
    before = torch.get_num_threads()
    with threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_the_peak_of_memory_counts_what_stood_at_once() -> None:
    def both() -> None:
        first = torch.zeros(1 << 18)
        second = torch.zeros(1 << 18)
        del first, second
        torch.zeros(1 << 18)

    assert peak_bytes(both, CPU) == pytest.approx(2 << 20, rel=0.05)


@pytest.mark.parametrize(("figure", "code"), [(1.0, 0), (2.0, 1)])
def test_the_command_prints_one_json_object_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], figure: float, code: int
) -> None:
    report = Report({"a_ms": 5.0, "b_ratio": figure}, {"b_ratio": Bound(1.5)})
    fake = types.SimpleNamespace(measure=lambda device: report)
    monkeypatch.setattr(importlib, "import_module", lambda name: fake)
    assert command.main(["trace", "--device", "cpu", "--json"]) == code
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told == {
        "name": "trace",
        "device": "cpu",
        "threads": torch.get_num_threads(),
        "figures": {"a_ms": 5.0, "b_ratio": figure},
        "reach": {"b_ratio": [1.5, figure <= 1.5]},
    }


def test_a_device_that_is_not_there_is_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        command.main(["trace", "--device", "gpu"])
    assert "there is no device gpu: cpu, cuda or cuda:1" in capsys.readouterr().err


def test_the_claims_of_the_readme_can_be_measured() -> None:
    assert {"trace", "decode"} <= set(command.names())


def test_every_attention_has_its_memory() -> None:
    for kind in family.KINDS:
        found = family.measure_kind(kind, longest=256)
        assert set(found) == {f"{kind}_256_ms", f"{kind}_256_mb"} and found[f"{kind}_256_ms"] > 0
        assert found[f"{kind}_256_mb"] * 1e6 >= 256 * family.HEADS * family.D_HEAD * 4, kind
