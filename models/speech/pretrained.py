"""The shipped networks."""

from models.checkpoints.pretrained import describe_builder, make_loader
from models.speech.model import SpeechConfig, SpeechNetwork

SLUG = "speech"
read, load = make_loader(SLUG, describe_builder(SpeechNetwork, SpeechConfig), "base")
