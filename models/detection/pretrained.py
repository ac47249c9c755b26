"""The shipped networks."""

from models.checkpoints.pretrained import describe_builder, make_loader
from models.detection.model import Config, Detector

SLUG = "detection"
read, load = make_loader(SLUG, describe_builder(Detector, Config), "base")
