"""How many words a query shares with the record that answers it."""

from __future__ import annotations

from memeval.probe import Probe
from memeval.text import content_words, tokens


def shared_words(probe: Probe) -> tuple[list[str], list[str]]:
    """Content words of the query that the best expected record has too, and all of them.

    Parameters
    ----------
    probe : Probe
        One probe.

    Returns
    -------
    tuple of list of str
        The shared words of that expected record which has most of them (the first of several),
        and all content words of the query. Both are empty for a negative probe, for a query of
        function words alone, and where the texts of the records are withheld.
    """
    if probe.is_negative or probe.withheld:
        return [], []
    asked = content_words(probe.query)
    texts = (probe.state.by_id[name].text for group in probe.groups for name in group)
    return max((_stand_in(asked, text) for text in texts), key=len), asked


def _stand_in(words: list[str], text: str) -> list[str]:
    # A single character of an unspaced script is in no pair of neighbours, and yet in the text.
    there = {*content_words(text), *tokens(text)}
    return [word for word in words if word in there]
