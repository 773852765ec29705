"""A chat log as records: one for each turn, as a store that keeps whole turns would have them."""

from __future__ import annotations

from pathlib import Path

from memeval.checks.kinds import is_blank
from memeval.datasets.mem0dump import Mem0Memories
from memeval.datasets.reading import FaultLog
from memeval.record import Record
from memeval.times import parse_time
from memeval.transcripts import read_transcript


def read_turns(path: str | Path) -> Mem0Memories:
    r"""Read a chat log, such as an export of ChatGPT or of Claude, as records.

    Parameters
    ----------
    path : str or pathlib.Path
        As for `memeval.transcripts.read_transcript`.

    Returns
    -------
    Mem0Memories
        A record per turn, ``t1`` and on in the order of time where the file says it; ``role`` and
        ``source``, the place in the file, are metadata. A turn without words is left out, which is
        told in ``faults``, as are entries that are of no known form.

    Raises
    ------
    MemevalError
        If it cannot be read, or nothing in it has a form that is known.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.jsonl")
    ...     _ = path.write_text('{"role": "user", "content": "Tea is at four."}\n')
    ...     (record,) = read_turns(path).records
    >>> record.id, record.text, record.meta["role"]
    ('t1', 'Tea is at four.', 'user')
    """
    told, log, records = read_transcript(path), FaultLog(), list[Record]()
    if told.n_unread:
        log.add(str(path), "", f"{told.n_unread} entries of no known form", "not read")
    for n, turn in enumerate(told.turns, 1):
        if is_blank(turn.text):
            log.add(turn.scope, turn.source, "a turn without words", "left out")
            continue
        at = None if turn.at is None else parse_time(turn.at)
        meta = {"role": turn.role, "source": turn.source}
        records.append(Record(f"t{n}", turn.text, turn.scope, at=at, meta=meta))
    return Mem0Memories(tuple(records), log.frame())
