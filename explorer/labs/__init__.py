"""The labs, in teaching order. A lab is added by its lines here and removed by deleting them together with its folders."""

from __future__ import annotations

from explorer.lab import Lab
from explorer.labs.translation.page import LAB as TRANSLATION

LABS: tuple[Lab, ...] = (TRANSLATION,)
