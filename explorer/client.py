"""The labs of a running site from a script: a method for each lab, and arrays as NumPy.

    from explorer.client import Client

    run = Client("http://localhost:7860").translation("Two dogs run.", views=["attention"])
    print(run.answer["pieces"], run.arrays["cross"][2, 4])  # layer 3, head 5: (query, key)

Parameters are the fields of a link to the lab; positional ones stand in its order.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urljoin

import httpx
import numpy as np
from gradio_client import Client as Endpoints
from gradio_client.exceptions import AppError
from numpy.typing import NDArray

from explorer.values.exact_rows import ROWS
from explorer.values.packing import LEVELS

PATIENCE = 60.0  # seconds until an array must have come

Array = NDArray[Any]


@dataclass(frozen=True)
class LongMap:
    """Attention over more positions than a page draws, fetched one head at a time.

    shape: layers, heads, queries and keys.
    fetch: returns the bytes of an address of the site.
    """

    shape: tuple[int, int, int, int]
    address: str
    fetch: Callable[[str], bytes]

    def __getitem__(self, place: tuple[int, int]) -> Array:
        """Return the weights of a layer and head, both from 0, as (query, key), to 16 bits."""
        layers, heads, queries, keys = self.shape
        layer, head = place
        if not (0 <= layer < layers and 0 <= head < heads):
            raise IndexError(f"layer {layer}, head {head}; there are {layers} and {heads}")
        path, _, origin = self.address.partition("?")
        parts = [
            self.fetch(f"{path}/{layer}/{head}/{first}/{ROWS}?{origin}")
            for first in range(0, queries, ROWS)
        ]
        return np.frombuffer(b"".join(parts), "<u2").reshape(queries, keys) / np.float32(LEVELS)


@dataclass(frozen=True)
class Run:
    """The answer of a lab.

    answer, change: what the input bar and the panel of changes say, as the endpoint returns them.
    link: the address of this request, None where no link can carry it.
    views: the values of the views that were asked for, by name.
    arrays: their arrays; attention by its kind, "cross", and others by view and place,
        "reach.states".
    """

    answer: Any
    change: Any
    link: str | None
    views: Mapping[str, Any]
    arrays: Mapping[str, Array | LongMap]


class Client:
    """A running site. Each lab is a method: `Client(url).bert("A [MASK] dog.")`."""

    def __init__(self, url: str) -> None:
        """Read what the site at `url` offers."""
        self._url = url if url.endswith("/") else f"{url}/"
        self._endpoints = Endpoints(url, analytics_enabled=False, verbose=False)
        offered: Any = self._endpoints.view_api(return_format="dict", print_info=False)
        self.labs = tuple(path.lstrip("/") for path in offered["named_endpoints"])

    def __dir__(self) -> list[str]:
        """Return the names of the labs besides the attributes."""
        return [*super().__dir__(), *self.labs]

    def __getattr__(self, lab: str) -> Callable[..., Run]:
        """Return the method of a lab."""
        if lab.startswith("_") or lab not in self.labs:
            raise AttributeError(f"There is no lab {lab}; there are {', '.join(self.labs)}.")
        return partial(self.run, lab)

    def run(self, lab: str, *values: object, **request: object) -> Run:
        """Return the answer of a lab. Raise ValueError with the sentence of a refusal.

        request: fields of the lab's request, and `views`, names of views.
        """
        try:
            answered = self._endpoints.predict(*values, **request, api_name=f"/{lab}")
        except AppError as error:
            raise ValueError(str(error)) from None
        views = answered["views"]
        arrays = dict(
            pair for name, view in views.items() for pair in self._list_arrays(view, name)
        )
        return Run(
            answered["answer"],
            answered["change"],
            answered["link"],
            views,
            MappingProxyType(arrays),
        )

    def _fetch(self, address: str) -> bytes:
        """Return the bytes of an address of the site."""
        reply = httpx.get(urljoin(self._url, address), timeout=PATIENCE)
        if reply.status_code != httpx.codes.OK:
            raise ValueError(reply.text)
        return reply.content

    def _list_arrays(self, value: Any, name: str) -> Iterator[tuple[str, Array | LongMap]]:
        """Yield the arrays inside a view's value by their names."""
        if isinstance(value, Mapping):
            if {"dtype", "shape", "scale"} <= value.keys():
                yield name, self._unpack(value)
            elif {"key", "weights", "look"} <= value.keys():
                yield value["key"], self._read_attention(value)
            else:
                for key, part in value.items():
                    yield from self._list_arrays(part, f"{name}.{key}")
        elif isinstance(value, list):
            for place, part in enumerate(value):
                yield from self._list_arrays(part, f"{name}.{place}")

    def _read_attention(self, kind: Mapping[str, Any]) -> Array | LongMap:
        """Return the weights of a kind of attention, (layer, head, query, key)."""
        if not kind["look"]:
            return self._unpack(kind["weights"])
        layers, heads = kind["weights"]["shape"][:2]
        sides = (len(kind["whole"]["queries"]), len(kind["whole"]["keys"]))
        return LongMap((layers, heads, *sides), kind["look"], self._fetch)

    def _unpack(self, packed: Mapping[str, Any]) -> Array:
        """Return a packed array: whole numbers and float32 as they are, weights as float32."""
        raw = self._fetch(packed["url"]) if "url" in packed else base64.b64decode(packed["data"])
        array = np.frombuffer(raw, f"<{packed['dtype']}").reshape(packed["shape"])
        return array if packed["scale"] == 1 else array * np.float32(packed["scale"])
