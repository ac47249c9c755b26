"""The labs, in teaching order. A lab is added by one line here and removed by deleting it together with its folders."""

from __future__ import annotations

from explorer.lab import Lab

LABS: tuple[Lab, ...] = ()
