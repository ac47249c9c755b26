"""The gain in speed from predicting all pieces at once: mask-predict beside greedy search with
cached keys and values, of the same network.

Random sentences of SOURCE pieces, and random weights rounded to half precision, in which the
shipped ones are written, read in float32. Both write PIECES pieces, the greedy search a stop token
more. Encoder and prediction of the length are included. Above 1 mask-predict is faster:
t1, t4, t10: with this many passes, a sentence at a time.
batch16_t1, …: sixteen sentences at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.decode import BATCH, SOURCE, build_ours
from benchmarks.measure import Bound, Report, as_shipped, median, ratio, time_in_turns
from benchmarks.sizes import size
from models.data.multi30k import STOP
from models.decoding.translation_search import Source, greedy_search, lay_out_by_column
from models.networks.encoder import Config
from models.nonautoregressive.decode import mask_predict
from models.nonautoregressive.model import SHORTER, AllAtOnce

PIECES = size(15, 3)  # of each translation, about as many as a caption has
TIMES = (1, 4, 10)


@torch.no_grad()
def measure(device: torch.device) -> Report:
    """Measure all figures of this benchmark."""
    torch.manual_seed(1)
    greedy, parallel = build_ours(Config()).to(device), as_shipped(AllAtOnce(Config())).to(device)
    # the predicted length decides how much there is to write
    parallel.length.bias[PIECES - SOURCE + SHORTER] = 1e3
    lay_out_by_column(parallel)
    sentences = torch.randint(STOP + 1, Config().vocabulary, (BATCH, SOURCE), device=device)

    def one_by_one(count: int) -> Callable[[], object]:
        tokens = sentences[:count]
        source = Source(tokens, torch.ones_like(tokens, dtype=torch.bool), (PIECES + 1,) * count)

        def run() -> None:
            if any(len(found.tokens) != PIECES + 1 for found in greedy_search(greedy, source)):
                raise AssertionError(
                    f"every translation must have {PIECES} pieces and a stop token"
                )

        return run

    def at_once(count: int, times: int) -> Callable[[], object]:
        ids = sentences[:count].tolist()

        def run() -> None:
            if any(len(found.tokens) != PIECES for found in mask_predict(parallel, ids, times)):
                raise AssertionError(f"every translation must have {PIECES} pieces")

        return run

    names = {1: "", BATCH: f"batch{BATCH}_"}
    sides = {f"{name}greedy": one_by_one(count) for count, name in names.items()}
    sides |= {
        f"{name}t{times}": at_once(count, times) for count, name in names.items() for times in TIMES
    }
    seconds = time_in_turns(sides, device, calls=5)
    figures = {f"{name}_ms": 1000 * median(seconds[name]) for name in sides}
    figures |= {
        f"{name}t{t}_vs_greedy_ratio": ratio(seconds, f"{name}greedy", f"{name}t{t}")
        for name in names.values()
        for t in TIMES
    }
    return Report(figures, {"t1_vs_greedy_ratio": Bound(2.0, at_least=True)})
