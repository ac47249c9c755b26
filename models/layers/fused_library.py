"""The library of the fused step: built from models/layers/fused.cpp for exactly this processor, and
the structures that it reads."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("fused.cpp")
FLAGS = (
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-std=c++17",
    "-shared",
    "-fPIC",
)
THREADS = ("-fopenmp", "-fopenmp-simd")  # the second is for compilers without a library for threads


class MatrixStruct(ctypes.Structure):
    """A matrix as the library reads it: panels of single or half precision, a bias."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("panels", "halves", "bias")),
        *((name, ctypes.c_int64) for name in ("inputs", "outputs")),
    )


class NormStruct(ctypes.Structure):
    """A layer norm."""

    _fields_ = (("weight", ctypes.c_void_p), ("bias", ctypes.c_void_p))


class LayerStruct(ctypes.Structure):
    """The norms and matrices of a layer."""

    _norms = ("norm", "cross_norm", "feedforward_norm")
    _matrices = ("project_in", "out", "cross_query", "cross_source", "cross_out", "inner", "outer")
    _fields_ = (
        *((name, NormStruct) for name in _norms),
        *((name, MatrixStruct) for name in _matrices),
    )


class StackStruct(ctypes.Structure):
    """All layers, the last norm and the readout."""

    _fields_ = (
        ("layers", ctypes.POINTER(LayerStruct)),
        *((name, ctypes.c_int64) for name in ("n_layers", "d_model", "n_heads", "behind", "nats")),
        ("norm", NormStruct),
        ("readout", MatrixStruct),
    )


class HeadStruct(ctypes.Structure):
    """The place of a head's keys and values."""

    _fields_ = (
        ("keys", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("row", ctypes.c_int64),
        ("room", ctypes.c_int64),
    )


class AddedStruct(ctypes.Structure):
    """The fields of `fused.AddedArrays`."""

    _tensors = (
        "gain",
        "cross_gain",
        "content",
        "positional",
        "table",
        "fade",
        "cross_keys",
        "cross_values",
        "places",
    )
    _fields_ = (
        ("heads", ctypes.POINTER(HeadStruct)),
        *((name, ctypes.c_void_p) for name in _tensors),
        ("keep", ctypes.c_float * 3),
    )


class StateStruct(ctypes.Structure):
    """The values that a step reads beside the weights."""

    _fields_ = (
        ("own", ctypes.POINTER(AddedStruct)),
        ("mask", ctypes.c_void_p),
        *(
            (name, ctypes.c_int64)
            for name in ("rows", "distances", "shared", "source", "source_room")
        ),
        ("scale", ctypes.c_float),
    )


def _find_compiler() -> str | None:
    return shutil.which(os.environ.get("CXX", "")) or shutil.which("g++") or shutil.which("clang++")


def find_library_path() -> Path:
    """Return the path of the library for this source and this processor, built or not: beside the
    installed packages."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text("utf-8").splitlines() if about.is_file() else []
    said = [
        platform.machine(),
        *sorted(
            {
                line
                for line in lines
                if line.startswith(("model name", "flags", "Features", "CPU part"))
            }
        ),
    ]
    digest = hashlib.sha256(SOURCE.read_bytes() + repr((FLAGS, THREADS, said)).encode()).hexdigest()
    return Path(sys.prefix) / "lib" / "transformer-family-explorer" / f"fused-{digest[:16]}.so"


def build_library() -> str:
    """Compile for this processor, and return one sentence about how it went. Nothing happens where
    the library is built already."""
    there, compiler = find_library_path(), _find_compiler()
    if there.is_file():
        return f"The fused step is built already: {there}"
    if compiler is None:
        return "No C++ compiler: decoders go the plain way, which is slower."
    try:
        there.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=there.parent) as folder:
            built = Path(folder) / there.name
            for threads in THREADS:
                command = [compiler, *FLAGS, threads, str(SOURCE), "-o", str(built)]
                ran = subprocess.run(
                    command, check=threads == THREADS[-1], capture_output=True, timeout=300
                )
                if ran.returncode == 0:
                    break
            built.replace(there)  # in one move: nobody ever loads half a library
    except (OSError, subprocess.SubprocessError) as error:
        return (
            "The fused step could not be built, so decoders go the plain way, which is slower:"
            f" {error}"
        )
    load_library.cache_clear()
    return f"The fused step is built: {there}"


@cache
def load_library() -> Any:
    """Return the library, or None."""
    try:
        library = ctypes.CDLL(str(find_library_path()))
    except OSError:
        return None
    library.step.argtypes = (*(ctypes.c_void_p,) * 3, *(ctypes.c_int64,) * 3, ctypes.c_void_p)
    library.draw.argtypes = (
        ctypes.c_void_p,
        *(ctypes.c_int64,) * 2,
        *(ctypes.c_void_p,) * 3,
        ctypes.c_int64,
        ctypes.c_void_p,
    )
    library.surprise.argtypes = (ctypes.c_void_p, *(ctypes.c_int64,) * 2, *(ctypes.c_void_p,) * 2)
    library.source.argtypes = (
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_void_p,
    )
    library.whole.argtypes = (
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_float,
        *(ctypes.c_void_p,) * 2,
        *(ctypes.c_int64,) * 2,
    )
    library.readout.argtypes = (ctypes.c_void_p, ctypes.c_int64, *(ctypes.c_void_p,) * 2)
    library.weigh.argtypes = (*(ctypes.c_void_p,) * 2, *(ctypes.c_int64,) * 4)
    for function in (
        library.step,
        library.draw,
        library.surprise,
        library.source,
        library.whole,
        library.readout,
        library.weigh,
    ):
        function.restype = None
    return library


if __name__ == "__main__":
    print(build_library())
