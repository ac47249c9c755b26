"""Arrays reach the browser as they were, to the steps that are promised, and the store of large ones stays bounded."""

from __future__ import annotations

import base64
import gzip
import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.packing import ArrayStore, Packed, pack


def unpack(packed: Packed, store: ArrayStore | None = None) -> NDArray[np.float64]:
    """What lib/arrays.js makes of it."""
    if "url" in packed:
        assert store is not None
        kept = store.get(packed["url"].removeprefix("/arrays/"))
        assert kept is not None
        raw = gzip.decompress(kept)
    else:
        raw = base64.b64decode(packed["data"])
    return np.frombuffer(raw, "<" + packed["dtype"]).reshape(packed["shape"]) * packed["scale"]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (4, 8, 10, 11), (2, 0, 5)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_weights_keep_their_shape_and_lose_less_than_a_step(shape: tuple[int, ...], dtype: type) -> None:
    weights = np.random.default_rng(0).random(shape).astype(dtype)
    packed = pack(weights)
    assert packed["dtype"] == "u2" and packed["shape"] == list(shape)
    np.testing.assert_allclose(unpack(packed), weights, atol=0.5 / 65_535 + 1e-7)


def test_the_ends_of_the_scale_are_exact() -> None:
    assert unpack(pack(np.array([0.0, 1.0], np.float32))).tolist() == [0.0, 1.0]


def test_a_view_of_another_array_is_packed_as_it_reads() -> None:
    weights = np.linspace(0, 1, 24, dtype=np.float32).reshape(4, 6).T[::-1]
    np.testing.assert_allclose(unpack(pack(weights)), weights, atol=1e-5)


def test_many_weights_travel_as_one_byte_each_by_an_address() -> None:
    store = ArrayStore()
    weights = np.random.default_rng(1).random((8, 200, 200)).astype(np.float32)
    packed = pack(weights, store=store)
    assert packed["dtype"] == "u1" and "data" not in packed
    np.testing.assert_allclose(unpack(packed, store), weights, atol=0.5 / 255 + 1e-6)


def test_what_exceeds_64_kilobytes_leaves_by_an_address_and_nothing_below_does() -> None:
    store = ArrayStore()
    assert "data" in pack(np.zeros(32_768, np.float32), store=store)
    assert pack(np.zeros(32_769, np.float32), store=store)["url"].startswith("/arrays/")


def test_signed_values_and_whole_numbers_are_exact() -> None:
    signed = np.array([-3.5, 0.0, 1e20], np.float32)
    assert unpack(pack(signed, unit=False)).tolist() == signed.tolist()
    assert unpack(pack(np.array([-(2**31), 7, 2**31 - 1]))).tolist() == [-(2**31), 7, 2**31 - 1]
    assert unpack(pack(np.array([True, False]))).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("array", "named"),
    [
        (np.array([0.5, 1.5]), "1.5"),
        (np.array([-0.2]), "-0.2"),
        (np.array([np.nan]), "not finite"),
        (np.array([np.inf]), "not finite"),
        (np.array([2**40]), "32 bits"),
        (np.array(["a"]), "numbers or booleans"),
    ],
)
def test_what_is_no_weight_is_refused_by_name(array: NDArray[np.generic], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        pack(array)


def test_the_store_is_bounded_and_forgets_what_was_not_asked_for_longest() -> None:
    draw = np.random.default_rng(2)
    pieces = [draw.bytes(10_000) for _ in range(8)]
    store = ArrayStore(capacity=45_000)
    digests = [store.put(piece) for piece in pieces[:4]]
    assert store.get(digests[0]) is not None  # asked for: now the youngest
    digests += [store.put(piece) for piece in pieces[4:6]]
    assert store.size <= 45_000
    kept = [store.get(digest) is not None for digest in digests]
    assert kept == [True, False, False, True, True, True]
    again = store.put(pieces[1])
    assert again == digests[1]
    with pytest.raises(ValueError, match="45000"):
        store.put(draw.bytes(60_000))


def test_one_array_is_kept_once_however_many_visitors_ask() -> None:
    store = ArrayStore()
    first = store.put(b"x" * 100_000)
    size = store.size
    assert store.put(b"x" * 100_000) == first and store.size == size


def test_threads_may_share_a_store() -> None:
    store = ArrayStore(capacity=200_000)

    def work(seed: int) -> None:
        draw = np.random.default_rng(seed % 3)
        for _ in range(100):
            store.get(store.put(draw.bytes(4_000)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < store.size <= 200_000
    assert store.size == sum(len(kept) for kept in store._kept.values())
