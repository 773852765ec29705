"""A probe as it was written: its history in words, and as YAML to be copied."""

from __future__ import annotations

import json
from typing import Any

from memeval.given import op_to_dict
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.report.figures import count
from memeval.times import write_span
from memeval.words import is_hidden

MOST_GIVEN = 40
LONGEST_YAML = 50_000


def to_yaml(probe: Probe, history: bool = True) -> str:
    """Write a probe as a probe file that `memeval.load` reads.

    Parameters
    ----------
    probe : Probe
        What to write.
    history : bool
        Whether a shared history is written out with it.

    Examples
    --------
    >>> print(to_yaml(Probe("lunch", "Where?", [Record("r1", "Noodle bar.")], ["r1"])), end="")
    - name: lunch
      query: Where?
      given:
      - id: r1
        text: Noodle bar.
      expect:
      - r1
    """
    import yaml

    said: Any = [probe.to_dict()]
    if probe.history is not None and history:
        steps = [op_to_dict(op) for op in probe.given]
        said = {"histories": {probe.history: steps}, "probes": said}
    # Through JSON, so that no two places share an object and YAML needs no alias.
    plain = json.loads(json.dumps(said))
    written = yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=96)
    if any(is_hidden(char) for char in set(written) - {"\n"}):
        written = yaml.safe_dump(plain, allow_unicode=False, sort_keys=False, width=96)
    return str(written)


def describe_step(op: Op, probe: Probe) -> tuple[str, str | None]:
    """One step of a history: what was done in words, and the text that was written."""
    if isinstance(op, Delete):
        return f"delete {op.id}", None
    if isinstance(op, Consolidate):
        return "consolidate", None
    if isinstance(op, Advance):
        return f"advance {write_span(op.by)}", None
    said = [f"write {op.id}"]
    if op.scope != probe.scope:
        said.append(f"in scope {op.scope}")
    if op.at is not None:
        said.append(f"at {op.at:%Y-%m-%d %H:%M}")
    if op.supersedes:
        said.append(f"supersedes {', '.join(op.supersedes)}")
    if op.expires is not None:
        said.append(f"expires {op.expires:%Y-%m-%d %H:%M}")
    if op.meta:
        said.append(f"meta {json.dumps(dict(op.meta), ensure_ascii=False, sort_keys=True)}")
    return ", ".join(said), op.text


def copyable(probe: Probe) -> tuple[str, str]:
    """The probe as YAML, and what to say of it; no YAML where it could not be read back."""
    place = f"it stands in {probe.file}, line {probe.line}" if probe.file else "see the run file"
    if probe.withheld:
        return "", "The texts were left out of this report, so the probe cannot be copied from it."
    if probe.history is not None and len(probe.given) > MOST_GIVEN:
        return to_yaml(probe, history=False), (
            f"Without its history {probe.history} of {count(len(probe.given), 'step')}: {place}."
        )
    if sum(len(op.text) for op in probe.given if isinstance(op, Record)) > LONGEST_YAML:
        return "", f"Its texts are too long to be copied from here: {place}."
    return to_yaml(probe), ""
