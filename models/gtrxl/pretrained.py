"""The shipped agents."""

from models.checkpoints.pretrained import describe_builder, make_loader
from models.gtrxl.model import Config, build_agent

SLUG = "gtrxl"
read, load = make_loader(SLUG, describe_builder(build_agent, Config), "gtrxl")
