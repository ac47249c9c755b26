"""The app around the models: pages, widgets, figures, and the server that carries them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class GradioWithoutInterfaces(MetaPathFinder):
    """An import hook that stops Gradio from writing its interface files.

    Gradio writes files for editors (``.pyi``) anew for each component, which is half of what its
    import costs.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec without the writer for the module that writes them, else None."""
        if fullname != "gradio.component_meta":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def without_writer(module: ModuleType) -> None:
                run(module)
                vars(module)["create_or_modify_pyi"] = lambda *_: None

            vars(spec.loader)["exec_module"] = without_writer
        return spec


sys.meta_path.insert(0, GradioWithoutInterfaces())
