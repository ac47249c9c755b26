"""The shipped networks."""

from models.checkpoints.pretrained import describe_builder, make_loader
from models.self_similarity.model import Config, Denoiser
from models.self_similarity.records import SLUG

read, load = make_loader(SLUG, describe_builder(Denoiser, Config), "block")
