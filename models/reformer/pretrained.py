"""The shipped networks."""

from models.checkpoints.pretrained import describe_builder, make_loader
from models.reformer.model import Config, Reformer

SLUG = "reformer"
read, load = make_loader(SLUG, describe_builder(Reformer, Config), "lsh_4")
