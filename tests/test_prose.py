"""The language of the code gets no worse: names, docstrings and classes that break a rule only
become fewer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import prose

# How often each rule is broken: the line that `python -m tools.prose --bounds` prints.
BOUNDS = {
    "participle": 0,
    "opening": 0,
    "banned binding": 1514,
    "repeated class": 0,
    "long function": 41,
}
CODE = '''"""Return something."""

def told():
    """Say it."""

def read_tracks():
    """What is read."""

def forward():
    pass

class Reader:
    """As it was."""
'''


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    """How often each rule is broken now."""
    return prose.count_exceptions()


@pytest.mark.parametrize("rule", BOUNDS)
def test_exceptions_only_shrink(rule: str, counts: dict[str, int]) -> None:
    count, bound = counts[rule], BOUNDS[rule]
    assert count <= bound, f"a new one: python -m tools.prose --list '{rule}' names all"
    assert count >= bound, f"well done: lower the bound of {rule} from {bound} to {count}"


def test_every_rule_has_a_bound(counts: dict[str, int]) -> None:
    assert counts.keys() == BOUNDS.keys()


@pytest.mark.parametrize("name", ["told", "_drawn", "one", "reading", "made", "Again"])
def test_a_participle_is_no_name(name: str) -> None:
    assert prose.is_participle(name)


@pytest.mark.parametrize("name", ["read", "embed", "read_tracks", "is_stored", "speed", "batch"])
def test_a_verb_or_noun_is_a_name(name: str) -> None:
    assert not prose.is_participle(name)


def test_exceptions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "code.py"
    path.write_text(CODE, "utf-8")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    found = {(one.name, one.rule) for one in prose.find_in(path)[0] if one.rule != "single word"}
    assert found == {("told", "participle"), ("read_tracks", "opening"), ("Reader", "opening")}


def test_a_repeated_class_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room, name in (("explorer", "Page"), ("models", "Page"), ("models", "Rows")):
        (tmp_path / room).mkdir(exist_ok=True)
        (tmp_path / room / f"{name.lower()}.py").write_text(f"class {name}: pass\n", "utf-8")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    assert prose.count_repeated_classes() == {"Page": 2}


def test_banned_bindings_are_counted_by_scope() -> None:
    code = """
told = 1
def read(seen, told):
    told = [one for one in seen]
    for own.here in told:
        lost = lambda drawn: drawn
    self.made = made = again
"""
    found = prose.list_banned_bindings(ast.parse(code))
    assert [name for _, name in found] == ["told", "seen", "told", "one", "drawn", "lost", "made"]
