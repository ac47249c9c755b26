"""Marks by which Gradio takes a value for something else."""

from __future__ import annotations

WRITTEN_FOR = "6.31.0"  # the version of Gradio

MARK = "_type"  # of a file, which Gradio would look for on this machine


def has_type_mark(value: object) -> bool:
    """Return whether a JSON value holds, at any depth, an object with a mark; no page sends one."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if MARK in one:
                return True
            left += one.values()
        elif isinstance(one, list):
            left += one
    return False
