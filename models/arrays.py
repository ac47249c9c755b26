"""Arrays as results carry them: nobody can write to them. No torch here."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)


@overload
def frozen(values: Any) -> NDArray[np.float32]: ...
@overload
def frozen(values: Any, kind: type[Kind]) -> NDArray[Kind]: ...
def frozen(values: Any, kind: type[np.generic] = np.float32) -> NDArray[Any]:
    """A copy of an array, of a tensor or of numbers, in this type, that nobody can write to."""
    copy: NDArray[Any] = np.array(values.detach().cpu().numpy() if hasattr(values, "detach") else values, kind, order="C")
    copy.setflags(write=False)
    return copy
