"""The models of pictures: no pixel knows of a later one, in whichever order they are made."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from models.image_transformer import pixelcnn
from models.image_transformer.model import LEVELS, Config, ImageTransformer, layout_of
from models.trace import Trace

PATTERNS = {
    "local_1d": Config(rows=5, columns=7, query=(1, 7), memory=(2, 7), d_model=16, d_ff=24, n_heads=2, n_layers=2),
    "local_2d": Config("local_2d", rows=5, columns=7, query=(2, 3), memory=(2, 2), d_model=16, d_ff=24, n_heads=2, n_layers=2),
}
both = pytest.mark.parametrize("pattern", PATTERNS)


def model_of(pattern: str) -> ImageTransformer:
    torch.manual_seed(4)
    return ImageTransformer(PATTERNS[pattern]).eval().requires_grad_(False)


def pictures(count: int = 1, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(LEVELS, (count, 5, 7), generator=generator), torch.randint(10, (count,), generator=generator)


def influence(model: nn.Module, embedding: nn.Module) -> Tensor:
    """(place of the logits, row of the embedding) bool: where the Jacobian of the logits with respect to the embedded levels is not 0.

    Logits in raster order; the rows of the embedding in the order in which the model takes levels.
    """
    kept = []
    hook = embedding.register_forward_hook(lambda module, given, made: kept.append(made.requires_grad_()) or made)
    picture, kind = pictures()
    logits = model(picture, kind).flatten(0, 2)  # (pixel, level)
    hook.remove()
    outside = torch.randn(LEVELS)
    found = [torch.autograd.grad(row @ outside, kept[0], retain_graph=True)[0].flatten(0, -2).any(-1) for row in logits]
    return torch.stack(found)


@both
def test_each_pixel_depends_on_pixels_made_before_it_and_on_no_other(pattern: str) -> None:
    model = model_of(pattern)
    layout = model.layout
    seen = influence(model, model.embedding.level)[layout.pixels]  # (position, position): the input is shifted by one, i brings pixel i − 1
    assert not seen.triu(1).any()
    reach = torch.eye(len(seen), dtype=torch.bool)
    direct = torch.zeros_like(reach)
    for block in layout.blocks:
        for query in range(block.start, block.stop):
            direct[query, [*block.memory, *range(block.start, query + 1)]] = True
    for _ in range(model.config.n_layers):
        reach = (reach.float() @ direct.float()) > 0
    assert torch.equal(seen, reach)  # and on all those that the blocks of two layers reach


def test_the_2d_order_lets_a_pixel_see_below_itself_to_the_left_but_not_beside_itself_to_the_right() -> None:
    model = model_of("local_2d")
    seen = influence(model, model.embedding.level)
    place = {pixel: position for position, pixel in enumerate(model.layout.order)}

    def knows(pixel: tuple[int, int], of: tuple[int, int]) -> bool:
        return bool(seen[pixel[0] * 7 + pixel[1], place[of] + 1])

    assert knows((0, 3), of=(1, 2)) and not knows((1, 2), of=(0, 3))  # the tile to the left is finished first
    assert knows((2, 2), of=(1, 3))  # the flange reaches to the upper right: the key at (1, 4) brings the level made before it


def small_pixelcnn() -> pixelcnn.PixelCNN:
    torch.manual_seed(4)
    return pixelcnn.PixelCNN(pixelcnn.Config(rows=5, columns=7, features=8, readout=12, n_layers=8)).eval().requires_grad_(False)


def test_the_pixelcnn_sees_every_earlier_pixel_and_no_later_one() -> None:
    model = small_pixelcnn()
    assert torch.equal(influence(model, model.level), torch.ones(35, 35, dtype=torch.bool).tril(-1))


@both
def test_predictions_for_training_are_those_of_the_whole_picture(pattern: str) -> None:
    model = model_of(pattern)
    picture, kind = pictures(3)
    logits, levels = model.predictions(picture, kind)
    pixels = model.layout.pixels
    assert torch.equal(levels, picture.flatten(1)[:, pixels])
    torch.testing.assert_close(logits, model(picture, kind).flatten(1, 2)[:, pixels])


@both
def test_the_kind_is_told_to_every_pixel_and_need_not_be_known(pattern: str) -> None:
    model = model_of(pattern)
    picture, _ = pictures()
    made = [model(picture, torch.tensor([kind])) for kind in (0, 1, model.unknown)]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert (made[one] != made[other]).any(-1).all()


@both
def test_watching_changes_nothing(pattern: str) -> None:
    model = model_of(pattern)
    picture, kind = pictures(2)
    trace = Trace("*/self/queries", "*/self/keys")
    assert torch.equal(model(picture, kind, trace=trace), model(picture, kind))
    assert trace.stack("*/self/queries").shape == trace.stack("*/self/keys").shape == (2, 2, 2, 35, 8)


@both
def test_a_gain_of_one_changes_nothing_and_a_silenced_head_changes_its_own_picture_alone(pattern: str) -> None:
    model = model_of(pattern)
    picture, kind = pictures(2)
    plain, gains = model(picture, kind), torch.ones(2, 2, 2)
    torch.testing.assert_close(model(picture, kind, gains=gains), plain)
    gains[0, 1, 1] = 0
    silenced = model(picture, kind, gains=gains)
    torch.testing.assert_close(silenced[0], plain[0])
    assert not torch.allclose(silenced[1], plain[1])


@both
def test_less_memory_is_another_model_of_the_same_order(pattern: str) -> None:
    model = model_of(pattern)
    picture, kind = pictures()
    less = model.config.layout((0, 0))
    assert less.order == model.layout.order
    made, plain = model(picture, kind, layout=less), model(picture, kind)
    assert not torch.allclose(made, plain)
    row, column = less.order[0]
    torch.testing.assert_close(made[0, row, column], plain[0, row, column])  # the first pixel never had any


@both
def test_places_undo_the_order_of_generation(pattern: str) -> None:
    layout = model_of(pattern).layout
    assert torch.equal(layout.pixels[layout.places], torch.arange(35))
    picture, _ = pictures()
    assert torch.equal(layout.made(picture)[:, layout.places].view(1, 5, 7), picture)


def test_an_unknown_pattern_is_named() -> None:
    with pytest.raises(ValueError, match="not local_3d"):
        layout_of("local_3d", 4, 4, (2, 2), (2, 2))
