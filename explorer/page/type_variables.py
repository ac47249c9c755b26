"""The type variables of a page: R is the class of a lab's requests, S that of its explanations, V
what its views are given of one, T a step of an answer that grows."""

from __future__ import annotations

from typing_extensions import TypeVar

R = TypeVar("R")
S = TypeVar("S")
V = TypeVar("V", default=S)
T = TypeVar("T", default=object)

# The same of what only reads these values: a view of any object is a view of every lab.
R_contra = TypeVar("R_contra", contravariant=True)
S_contra = TypeVar("S_contra", contravariant=True)
V_contra = TypeVar("V_contra", contravariant=True, default=object)
T_contra = TypeVar("T_contra", contravariant=True, default=object)
