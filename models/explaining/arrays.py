"""Read-only arrays, as results carry them. No torch here."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)


@overload
def freeze(values: Any) -> NDArray[np.float32]: ...
@overload
def freeze(values: Any, kind: type[Kind]) -> NDArray[Kind]: ...
def freeze(values: Any, kind: type[np.generic] = np.float32) -> NDArray[Any]:
    """Return a read-only copy of an array, of a tensor or of numbers, in this type."""
    copy: NDArray[Any] = np.array(
        values.detach().cpu().numpy() if hasattr(values, "detach") else values, kind, order="C"
    )
    copy.setflags(write=False)
    return copy
