"""One sentence in networks with and without residual paths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from models.checkpoints import pretrained
from models.data.multi30k import read_sentence
from models.decoding.beam import EXTRA
from models.decoding.translation_search import Source, greedy_search
from models.explaining.arrays import freeze
from models.explaining.batching import answer_one_by_one
from models.explaining.errors import InputError
from models.explaining.request_fields import check_request
from models.explaining.trace import Trace
from models.networks.encoder_decoder import AS_PUBLISHED, Changes, Paths
from models.translation.ablation import diagonality
from models.translation.path_records import NETWORKS, SUBLAYERS, PathsRequest, Tower, Towers
from models.translation.pretrained import Pretrained, load
from models.translation.records import MAX_TOKENS

MEASURED = {"value", "position_r2", "joined"}  # what `recipe.measure` says of such a network


def paths_under(request: PathsRequest, shipped: Pretrained) -> Paths:
    """Return the paths of a network with the request's gain at its sublayer, if the network has a
    path there."""
    own, layers = shipped.model.paths, shipped.model.config.n_layers
    gains = {
        stack: [list(row) for row in getattr(own, stack)] or [[1.0] * len(kinds)] * layers
        for stack, kinds in SUBLAYERS.items()
    }
    rows, place = (
        [list(row) for row in gains[request.stack]],
        SUBLAYERS[request.stack].index(request.sublayer),
    )
    rows[request.layer][place] *= request.gain
    gains[request.stack] = rows
    encoder, decoder = (tuple(map(tuple, gains[stack])) for stack in SUBLAYERS)
    return Paths(encoder, decoder, own.timing)


@answer_one_by_one
@torch.no_grad()
def towers(request: PathsRequest) -> Towers:
    """Return the result of each network under the request.

    Raise CheckpointError if no network is shipped.
    """
    check_request(request)
    if request.sublayer not in SUBLAYERS[request.stack]:
        raise InputError(
            "sublayer",
            en=(
                "An encoder layer does not attend to a source: it has self-attention and a"
                " feed-forward sublayer."
            ),
            zh="编码器层没有对源句的注意力：它只有自注意力和前馈子层。",
        )
    shipped = pretrained.load_shipped(load, NETWORKS, "residual paths")
    pieces = read_sentence(request.sentence, load().tokenizer, MAX_TOKENS)
    measured = {
        name: one
        for name, one in shipped.items()
        if (one.facts.get("figure") or {}).keys() >= MEASURED
    }
    found = [_tower(request, name, one, pieces.ids) for name, one in measured.items()]
    return Towers(pieces.pieces, pieces.space, tuple(found))


def _tower(request: PathsRequest, name: str, shipped: Pretrained, ids: Sequence[int]) -> Tower:
    figure, changed = shipped.facts["figure"], request != request.plain()
    maps, near, text = _read(
        Changes(paths=paths_under(request, shipped), first=request.shift), shipped, ids
    )
    _, was, before = _read(AS_PUBLISHED, shipped, ids) if changed else (maps, near, text)
    joined = tuple((int(count), loss) for count, loss in figure["joined"].items())
    return Tower(
        name,
        freeze(maps.mean(1)),
        near,
        text,
        was,
        before,
        figure["value"],
        freeze(figure["position_r2"]),
        joined,
    )


def _read(
    changes: Changes, shipped: Pretrained, ids: Sequence[int]
) -> tuple[NDArray[np.float32], NDArray[np.float32], str]:
    """Return the encoder's maps (layer, head, source, source), their diagonality by layer, and the
    translation."""
    model = shipped.model
    tokens = torch.tensor([ids], device=model.embedding.weight.device)
    source = Source(
        tokens, torch.ones_like(tokens, dtype=torch.bool), (len(ids) + EXTRA,), changes=changes
    )
    trace = Trace("encoder/*/self/weights")
    model.encode(tokens, source.allowed, trace=trace, changes=changes)
    maps = trace.stack("encoder/*/self/weights")[:, 0]
    (best,) = greedy_search(model, source)
    return (
        maps,
        freeze([diagonality([torch.from_numpy(one)]) for one in maps]),
        shipped.tokenizer.decode(best.tokens),
    )
