"""The detector beside independent programs: scenes, matching, loss, layers and figures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from models.data.windows import NONE
from models.detection.boxes import count_duplicates, suppress_neighbours
from models.detection.loss import compare_boxes, find_corners, match_queries, measure_losses
from models.detection.matching import match_rows
from models.detection.model import (
    Config,
    Detections,
    Detector,
    Gains,
    PlacedAttention,
    QueryLayer,
    TokenLayer,
)
from models.detection.recipe import (
    SetLoss,
    Stages,
    detect,
    label_cells,
    make_batch,
    make_optimizers,
    measure_scenes,
    silence_queries,
)
from models.detection.records import read_scene
from models.detection.scenes import (
    KINDS,
    OVERLAP,
    SIDE,
    Item,
    Pool,
    Sample,
    Scene,
    compose_scene,
    cut_sample,
    draw_items,
    draw_scene,
)
from models.evaluation.average_precision import Boxes, measure_average_precision, measure_overlap
from models.explaining.errors import InputError
from models.explaining.trace import Trace

SMALL = Config(d_model=32, d_ff=48, n_heads=2, n_layers=2, queries=8)


@pytest.fixture(scope="module")
def pool() -> Pool:
    """Two random blobs of each kind, on noise."""
    generator = np.random.default_rng(0)
    samples = []
    for kind in range(len(KINDS)):
        pictures = generator.integers(100, 256, (2, 28, 28)).astype(np.uint8)
        pictures[:, :, : 4 + kind % 5] = 0
        samples.append(tuple(cut_sample(one, kind < 5) for one in pictures))
    return Pool(tuple(samples), (generator.uniform(0, 255, (140, 120)).astype(np.float32),))


@pytest.fixture(scope="module")
def scenes(pool: Pool) -> list[Scene]:
    return [draw_scene(np.random.default_rng(i), pool) for i in range(12)]


@pytest.fixture(scope="module")
def model() -> Detector:
    torch.manual_seed(3)
    return Detector(SMALL).eval().requires_grad_(False)


def random_answers(layers: int = 2, batch: int = 5, queries: int = 8) -> Detections:
    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(layers, batch, queries, len(KINDS) + 1, generator=generator)
    boxes = torch.rand(layers, batch, queries, 4, generator=generator) * 0.5 + 0.2
    return Detections(logits.requires_grad_(), boxes.requires_grad_())


# ---- scenes


def test_a_box_is_where_the_object_is() -> None:
    shape = Sample(np.full((10, 5), 255, np.uint8), None)
    scene = compose_scene(
        np.zeros((SIDE, SIDE), np.float32), [(Item(3, 0, 12, 24, 20, 200), shape)]
    )
    assert scene.picture[24:44, 12:22].min() == 200 and scene.picture.sum() == 200 * 20 * 10
    np.testing.assert_allclose(scene.boxes[0] * SIDE, [17, 34, 10, 20], rtol=1e-6)


def test_an_object_outside_has_no_box() -> None:
    shape = Sample(np.full((10, 5), 255, np.uint8), None)
    items = [(Item(3, 0, x, 0, 20, 200), shape) for x in (-30, 90)]
    scene = compose_scene(np.zeros((SIDE, SIDE), np.float32), items)
    np.testing.assert_allclose(scene.boxes * SIDE, [[93, 10, 6, 20]], rtol=1e-6)
    assert scene.kinds.tolist() == [3]


def test_objects_overlap_little(pool: Pool) -> None:
    for seed in range(20):
        items = draw_items(np.random.default_rng(seed), pool, 6)
        whole = [(one.x, one.y, *sample.fit_size(one.size)) for one, sample in items]
        corners = np.array([(x, y, x + w, y + h) for x, y, h, w in whole], float)
        for a, b in itertools.combinations(corners, 2):
            shared = np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None).prod()
            smaller = min((one[2:] - one[:2]).prod() for one in (a, b))
            assert shared <= OVERLAP * smaller


def test_the_same_seed_draws_the_same(pool: Pool, scenes: Sequence[Scene]) -> None:
    again = draw_scene(np.random.default_rng(3), pool)
    assert np.array_equal(again.picture, scenes[3].picture)
    assert not np.array_equal(scenes[3].picture, scenes[4].picture)


@pytest.mark.parametrize(
    "text", ["", "x", "9", "0,", "0,1.1", "0,11.0.1.1.20.1", "0,1.9.1.1.20.1", "0,1.0.1.1.99.1"]
)
def test_what_is_no_scene_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_scene(text, 4, 8)
    assert refusal.value.code == "scene"


def test_a_scene_is_read() -> None:
    ground, items = read_scene("2,0.5.-3.20.30.1,4.d.50.60.20.0", 4, 8)
    assert ground == 2 and items[0] == Item(0, 5, -3, 20, 30, 235)
    assert items[1].sample == -1 and items[1].ink == 20
    with pytest.raises(InputError):
        read_scene("0" + ",0.0.1.1.20.1" * 21, 4, 8)


# ---- matching and loss


def test_a_matching_is_the_cheapest() -> None:
    generator = np.random.default_rng(1)
    for rows in (1, 2, 3, 4):
        cost = generator.normal(size=(rows, 5)).round(1)  # with ties
        found = match_rows(cost.tolist())
        least = min(
            cost[range(rows), list(columns)].sum()
            for columns in itertools.permutations(range(5), rows)
        )
        assert len(set(found)) == rows and cost[range(rows), found].sum() == pytest.approx(least)
    assert match_rows([]) == []
    with pytest.raises(ValueError, match="2 rows"):
        match_rows([[1.0], [2.0]])


def test_boxes_compare_as_worked_out() -> None:
    a, b = torch.tensor([0.25, 0.25, 0.5, 0.5]), torch.tensor([0.5, 0.25, 0.5, 0.5])
    overlap, general = compare_boxes(a, b)  # half of each is shared, the hull is the union
    assert float(overlap) == pytest.approx(1 / 3) and float(general) == pytest.approx(1 / 3)
    apart = torch.tensor([0.875, 0.25, 0.25, 0.5])
    assert float(compare_boxes(a, apart)[1]) == pytest.approx(-(0.5 - 0.375) / 0.5)


@pytest.mark.parametrize("none", [0.2, 1.0])
def test_loss_equals_transformers(scenes: Sequence[Scene], none: float) -> None:
    from transformers.loss.loss_for_object_detection import HungarianMatcher, ImageLoss

    batch, found = make_batch(scenes[:5]), random_answers()
    targets = [
        {"class_labels": kinds[kinds != NONE], "boxes": boxes[kinds != NONE]}
        for kinds, boxes in zip(batch.kinds, batch.boxes, strict=True)
    ]
    matcher = HungarianMatcher(class_cost=1, bbox_cost=5, giou_cost=2)
    peer = ImageLoss(matcher, len(KINDS), none, ["labels", "boxes"])
    outputs: list[dict[str, Any]] = [
        {"logits": logits, "pred_boxes": boxes} for logits, boxes in zip(*found, strict=True)
    ]
    pairs = match_queries(found, batch.kinds, batch.boxes)
    for row, (queries, things) in enumerate(matcher(outputs[-1], targets)):
        assert pairs[-1, row][things].tolist() == queries.tolist()
    theirs = peer(outputs[-1] | {"auxiliary_outputs": outputs[:-1]}, targets)
    weights = {"loss_ce": 1, "loss_bbox": 5, "loss_giou": 2}
    expected = sum(weights[name.removesuffix("_0")] * value for name, value in theirs.items())
    ours = sum(measure_losses(found, batch.kinds, batch.boxes, none))
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)
    gradients = [torch.autograd.grad(one, [*found]) for one in (ours, expected)]
    for mine, peers in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, peers, atol=1e-6, rtol=1e-4)


def test_cells_carry_the_upper_object() -> None:
    kinds = torch.tensor([[2, 5, NONE]])
    boxes = torch.tensor([[[0.5, 0.5, 1.0, 1.0], [0.25, 0.25, 0.5, 0.5], [0.5, 0.5, 1, 1]]])
    cells = label_cells(kinds, boxes, 4, 10).view(4, 4)
    assert cells[:2, :2].eq(5).all() and cells[2:].eq(2).all()
    assert label_cells(kinds[:, 2:], boxes[:, 2:], 4, 10).eq(10).all()


# ---- average precision


def test_precision_equals_coco(scenes: Sequence[Scene]) -> None:
    from contextlib import redirect_stdout
    from io import StringIO

    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    generator = np.random.default_rng(5)
    found, true = [], []
    for scene in scenes:
        corners = find_corners(torch.from_numpy(scene.boxes)).double().numpy() * SIDE
        moved = np.concatenate([corners + generator.normal(0, s, corners.shape) for s in (1, 4)])
        moved[:, 2:] = np.maximum(moved[:, 2:], moved[:, :2] + 2)
        kinds = np.tile(scene.kinds, 2)
        kinds[generator.random(len(kinds)) < 0.2] = 0
        found.append(Boxes(moved, kinds, generator.random(len(kinds)).round(1)))  # with ties
        true.append(Boxes(corners, scene.kinds))
    ours = measure_average_precision(found, true, len(KINDS))

    def entries(boxes: Sequence[Boxes]) -> list[dict[str, Any]]:
        return [
            {"image_id": i, "category_id": int(kind), "bbox": [x, y, right - x, low - y]}
            | {"area": (right - x) * (low - y), "iscrowd": 0}
            | ({} if one.scores is None else {"score": float(one.scores[j])})
            for i, one in enumerate(boxes)
            for j, ((x, y, right, low), kind) in enumerate(zip(one.corners, one.kinds, strict=True))
        ]

    coco = COCO()
    coco.dataset = {
        "images": [{"id": i} for i in range(len(true))],
        "categories": [{"id": i} for i in range(len(KINDS))],
        "annotations": [one | {"id": i + 1} for i, one in enumerate(entries(true))],
    }
    with redirect_stdout(StringIO()):
        coco.createIndex()
        judge = COCOeval(coco, coco.loadRes(entries(found)), "bbox")
        judge.evaluate()
        judge.accumulate()
    theirs = judge.eval["precision"][:, :, :, 0, -1]  # (threshold, recall, kind)
    theirs = np.where((theirs > -1).all(1), theirs.mean(1), np.nan)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    assert 0.05 < np.nanmean(ours) < 0.9


def test_duplicates_are_counted_and_removed() -> None:
    corners = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [40, 40, 50, 50], [0, 0, 10, 10]], float)
    found = Boxes(corners, np.array([1, 1, 1, 2]), np.array([0.7, 0.9, 0.8, 0.95]))
    assert count_duplicates(found, 0.5) == 1 and count_duplicates(found, 0.75) == 0
    assert suppress_neighbours(found).scores.tolist() == [0.9, 0.8, 0.95]  # type: ignore[union-attr]
    assert measure_overlap(corners[:1], corners[1:2])[0, 0] == pytest.approx(9 / 11)


def test_perfect_answers_reach_one(scenes: Sequence[Scene]) -> None:
    batch = make_batch(scenes)
    logits = torch.full((1, len(scenes), 6, 11), -9.0)
    logits[..., -1] = 0
    for row, kinds in enumerate(batch.kinds):
        for thing in range(int((kinds != NONE).sum())):
            logits[0, row, thing, kinds[thing]] = 9
    figure = measure_scenes(Detections(logits, batch.boxes[None]), scenes)
    assert figure == {"value": 1, "ap": 1, "ap75": 1, "duplicates": 0, "count_right": 1}


# ---- the network


def copy_attention(ours: PlacedAttention, theirs: nn.Module) -> None:
    parts = zip(ours.project_in.weight.chunk(3), ours.project_in.bias.chunk(3), strict=True)
    for name, (weight, bias) in zip(("q_proj", "k_proj", "v_proj"), parts, strict=True):
        getattr(theirs, name).load_state_dict({"weight": weight, "bias": bias})
    peer: Any = theirs.o_proj
    peer.load_state_dict(ours.project_out.state_dict())


def peer_config() -> Any:
    from transformers import DetrConfig

    sizes: dict[str, int] = {"encoder_ffn_dim": SMALL.d_ff, "decoder_ffn_dim": SMALL.d_ff}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    return DetrConfig(d_model=SMALL.d_model, dropout=0, **sizes, **heads)


def copy_rest(ours: Any, theirs: Any, norms: Sequence[str]) -> None:
    theirs.mlp.fc1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.mlp.fc2.load_state_dict(ours.feed_forward.outer.state_dict())
    for norm, name in zip(ours.norms, norms, strict=True):
        with torch.no_grad():
            norm.weight.uniform_(0.5, 1.5)
            norm.bias.uniform_(-0.5, 0.5)
        getattr(theirs, name).load_state_dict(norm.state_dict())


def test_encoder_layer_equals_transformers() -> None:
    from transformers.models.detr.modeling_detr import DetrEncoderLayer

    torch.manual_seed(1)
    config = peer_config()
    config._attn_implementation = "eager"
    ours, theirs = TokenLayer(SMALL), DetrEncoderLayer(config).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_rest(ours, theirs, ("self_attn_layer_norm", "final_layer_norm"))
    x, place = torch.randn(2, 9, SMALL.d_model), torch.randn(1, 9, SMALL.d_model)
    expected = theirs(x, None, spatial_position_embeddings=place.expand(2, -1, -1))
    expected = expected[0] if isinstance(expected, tuple) else expected
    torch.testing.assert_close(ours(x, place), expected, atol=1e-5, rtol=1e-5)


def test_decoder_layer_equals_transformers() -> None:
    from transformers.models.detr.modeling_detr import DetrDecoderLayer

    torch.manual_seed(2)
    config = peer_config()
    config._attn_implementation = "eager"
    ours, theirs = QueryLayer(SMALL), DetrDecoderLayer(config).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.encoder_attn)
    names = ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm")
    copy_rest(ours, theirs, names)
    x, query_place = torch.randn(2, 2, 5, SMALL.d_model)
    memory, place = torch.randn(2, 2, 9, SMALL.d_model)
    expected = theirs(
        x,
        spatial_position_embeddings=place,
        object_queries_position_embeddings=query_place,
        encoder_hidden_states=memory,
    )
    expected = expected[0] if isinstance(expected, tuple) else expected
    found = ours(x, query_place, memory, place)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_watching_changes_no_answer(model: Detector, scenes: Sequence[Scene]) -> None:
    pictures = make_batch(scenes[:3]).pictures
    trace = Trace("encoder/*/self/weights", "decoder/*/cross/weights", "decoder/*/self/weights")
    plain, watched = model(pictures), model(pictures, trace=trace)
    assert all(torch.equal(a, b) for a, b in zip(plain, watched, strict=True))
    assert trace.stack("encoder/*/self/weights").shape == (2, 3, 2, 144, 144)
    cross = trace.stack("decoder/*/cross/weights")
    assert cross.shape == (2, 3, 2, 8, 144)
    np.testing.assert_allclose(cross.sum(-1), 1, atol=1e-5)


def test_places_are_all_different(model: Detector) -> None:
    distance = torch.cdist(model.place, model.place) + torch.eye(144) * 99
    assert model.place.shape == (144, SMALL.d_model) and float(distance.min()) > 0.3


def test_silence_reaches_one_request(model: Detector, scenes: Sequence[Scene]) -> None:
    pictures = make_batch(scenes[:2]).pictures
    gains = torch.ones(2, 2, 2)
    gains[0, 1, 0] = 0
    plain, changed = model(pictures), model(pictures, Gains(cross=gains))
    assert torch.equal(plain.boxes[:, 0], changed.boxes[:, 0])
    assert not torch.equal(plain.boxes[:, 1], changed.boxes[:, 1])
    assert model(pictures, queries=3).boxes.shape == (2, 2, 3, 4)


def test_queries_alone_differ(model: Detector, scenes: Sequence[Scene]) -> None:
    plain, alone = detect(model, scenes), detect(model, scenes, silence_queries(model))
    assert plain.boxes.shape == (2, len(scenes), 8, 4)
    assert not torch.allclose(plain.logits[-1], alone.logits[-1])


# ---- training


def test_the_rate_follows_its_stages() -> None:
    stages = Stages(steps=100, peak=1.0, warmup=5, cells=20, constant=40, last=10)
    rates = [stages.rate_at(step) for step in range(1, 101)]
    assert max(rates[:20]) == pytest.approx(4, rel=0.01) and rates[19] < 0.01
    assert rates[24] == rates[59] == 1 and rates[89] == pytest.approx(1 / 30)
    assert rates[90] == pytest.approx(0.3) and rates[99] == pytest.approx(0.03)


@pytest.mark.parametrize("none", [-0.2, 0.2])
def test_learning_lowers_the_loss(scenes: Sequence[Scene], none: float) -> None:
    torch.manual_seed(5)
    objective = SetLoss(Detector(SMALL))
    (optimizer,) = make_optimizers(objective, Stages(peak=1e-3))
    batch, losses = make_batch(scenes[:6], none), []
    for _ in range(20):
        loss, count = objective(batch)
        losses.append(float(loss.detach()))
        (loss / count).backward()
        for group in optimizer.param_groups:
            group["lr"] = 2e-3
        optimizer.step()
        optimizer.zero_grad()
    assert [group["lr"] for group in optimizer.param_groups] == [1e-3, 2e-3]
    assert losses[-1] < 0.8 * losses[0]
