"""Columns of texts: what they hold, seen without a look at each text by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.words import clean

__all__ = ["Objects", "is_blank", "objects", "whole"]

Objects = NDArray[np.object_]

_CHUNK = 8192
"""Texts that are looked at together; more would copy all texts of a table at once."""


def objects(texts: pd.Series) -> Objects:
    """Texts of a str column as an array of objects, not copied where pandas keeps them so."""
    return np.asarray(texts.array, dtype=np.object_)


def is_blank(texts: pd.Series) -> bool:
    """Whether a str column is NA throughout, as far as one look at each place can tell.

    NA is one object nearly always: a column of several is called not blank.
    """
    values = objects(texts)
    return not len(values) or (
        values[0] != values[0] and values.tolist().count(values[0]) == len(values)
    )


def whole(texts: pd.Series) -> tuple[pd.Series, bool]:
    """Texts without half characters, which no file and no notebook can take.

    Parameters
    ----------
    texts : pandas.Series
        Of dtype str.

    Returns
    -------
    texts : pandas.Series
        The very same where there is nothing to mend.
    full : bool
        Whether none of them is NA.
    """
    given = objects(texts)
    starts = range(0, len(given), _CHUNK)
    looks = [_look(given[start : start + _CHUNK].tolist()) for start in starts]
    if not all(sound for sound, _ in looks):
        texts = texts.map(clean, na_action="ignore").astype("str")
    return texts, all(full for _, full in looks)


def _look(texts: list[Any]) -> tuple[bool, bool]:
    """Whether no text has a half character, and whether none is NA."""
    if texts[0] != texts[0] and texts.count(texts[0]) == len(texts):  # as in `is_blank`
        return True, False
    full = True
    try:
        joined = "".join(texts)  # one look is enough for all of them
    except TypeError:
        full, joined = False, "".join(text for text in texts if isinstance(text, str))
    if joined.isascii():
        return True, full
    try:
        joined.encode()
    except UnicodeEncodeError:
        return False, full
    return True, full
