"""Exercises on the live models: their printed answers solve them, the page as it opens does not."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

import pytest

from explorer.contract import permalink
from explorer.contract.exercises import Attempt, Exercise
from explorer.labs import DECLARED
from explorer.page.program import Program

LABS = {lab.slug: lab for lab in DECLARED if lab.is_shipped}
JUNK = ("", "x", "0", "9.9", "99.99", "-1", "1.", "1.2.3", ",", "3,x", "99999999", "none", "二")


def list_exercises(slug: str) -> tuple[Exercise[Any, Any], ...]:
    """Return the exercises of a lab."""
    return LABS[slug].exercises


@functools.cache
def load_program(slug: str) -> Program[Any, Any]:
    """Return the program of a lab's page."""
    return LABS[slug].build_program()


def answer(program: Program[Any, Any], requests: Sequence[Any]) -> list[Any]:
    """Run requests and return their results. A model that answers in turns yields steps before."""
    module, name = program.explain.split(":")
    said = getattr(importlib.import_module(module), name)(requests)
    if isinstance(said, list):
        return said
    results: list[Any] = [None] * len(requests)
    for turn in said:
        for at, entry in enumerate(turn):
            if entry is not None and not isinstance(entry, list):
                results[at] = entry
    return results


def read_look(solution: str) -> dict[str, str]:
    """Return the selection of an address."""
    return {key[1:]: text for key, text in parse_qsl(solution) if key.startswith("_")}


def attempt_solutions(slug: str) -> list[tuple[Exercise[Any, Any], Attempt[Any, Any]]]:
    """Return each exercise of a lab with the state of the page at the address that solves it."""
    program, exercises = load_program(slug), list_exercises(slug)
    requests = [permalink.decode(program.kind, one.solution)[0] for one in exercises]
    pairs = [(request, program.remove_changes(request)) for request in requests]
    wanted = list({repr(one): one for pair in pairs for one in pair}.values())
    # one by one, because some models take a single request
    results = {repr(one): answer(program, [one])[0] for one in wanted}
    return [
        (
            exercise,
            Attempt(
                request, results[repr(request)], results[repr(plain)], read_look(exercise.solution)
            ),
        )
        for exercise, (request, plain) in zip(exercises, pairs, strict=True)
    ]


@pytest.mark.parametrize("slug", LABS)
def test_a_lab_has_three_exercises(slug: str) -> None:
    """Every lab asks three questions under keys of their own, and an address is as a page reads
    it."""
    exercises = list_exercises(slug)
    assert len({one.key for one in exercises}) == len(exercises) == 3
    for one in exercises:
        _request, notice = permalink.decode(load_program(slug).kind, one.solution)
        assert notice is None, one.key


@pytest.mark.parametrize("slug", LABS)
def test_the_page_as_it_opens_solves_none(slug: str) -> None:
    """The first example without a selection solves no exercise of its lab."""
    program = load_program(slug)
    request, stored = program.examples[0][0], program.first()
    run = stored.seen if stored is not None else answer(program, [request])[0]
    for one in list_exercises(slug):
        assert not one.is_solved(Attempt(request, run, run, {})), one.key


@pytest.mark.parametrize("slug", LABS)
def test_printed_answers_solve_exercises(slug: str) -> None:
    """The address of each answer solves its exercise on the live model. The same run without the
    changes and the selection does not, and no selection makes a check fail."""
    for exercise, attempt in attempt_solutions(slug):
        assert exercise.is_solved(attempt), exercise.key
        if attempt.look:
            assert not exercise.is_solved(_look_at(attempt, {})), exercise.key
        names = {*attempt.look, "head", "kind", "model", "pos", "row", "query", "step"}
        for junk in JUNK:
            assert exercise.is_solved(_look_at(attempt, dict.fromkeys(names, junk))) in (
                True,
                False,
            )
            for name in attempt.look:
                exercise.is_solved(_look_at(attempt, {**attempt.look, name: junk}))


def test_objects_may_outnumber_queries() -> None:
    """With fewer queries than objects no query owns each of them, and no check fails."""
    program = load_program("detection")
    request = permalink.decode(program.kind, "v=1&queries=3")[0]
    run, plain = (
        answer(program, [request])[0],
        answer(program, [program.remove_changes(request)])[0],
    )
    for one in list_exercises("detection"):
        for query in range(12):
            assert not one.is_solved(Attempt(request, run, plain, {"query": str(query)})), one.key


def _look_at(attempt: Attempt[Any, Any], look: dict[str, str]) -> Attempt[Any, Any]:
    return Attempt(attempt.request, attempt.explanation, attempt.plain, look)
