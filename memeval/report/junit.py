"""A run as JUnit XML, for whatever shows test results."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

from memeval.report import control_rows
from memeval.report.plain_probes import probe_text
from memeval.report.probes import Ledger
from memeval.runs import Run
from memeval.text import visible

__all__ = ["junit_xml"]

# What no document of XML 1.0 may hold, not even as a reference.
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(run: Run) -> str:
    """Write a run as JUnit XML.

    Parameters
    ----------
    run : Run
        A test case for each probe, named as it is, of the class that its file is; its time is that
        of the scored search. The verdict is a case of its own, ``memeval verdict``. Of an invalid
        suite every probe is skipped, with the reason.

    Returns
    -------
    str
        A whole document, the same for the same run.
    """
    cases = [_verdict(run), *_probes(run)]
    tags = [case[0].tag if len(case) else "" for case in cases]
    suite = ET.Element(
        "testsuite",
        name="memeval",
        tests=str(len(cases)),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error")),
        skipped=str(tags.count("skipped")),
    )
    suite.extend(cases)
    whole = ET.Element("testsuites")
    whole.append(suite)
    ET.indent(whole)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(whole, encoding="unicode")}\n'


def _verdict(run: Run) -> ET.Element:
    case = ET.Element("testcase", classname="memeval", name="memeval verdict")
    verdict = run.verdict
    if verdict.exit_code:
        failure = ET.SubElement(case, "failure", message=_fit(f"{verdict.word}: {verdict.reason}"))
        failure.text = _fit(verdict.next_step)
    return case


def _probes(run: Run) -> list[ET.Element]:
    if control_rows.withheld(run.validity):
        return [
            _skipped(_case(probe.name, probe.file), control_rows.WITHHELD) for probe in run.suite
        ]
    ledger = Ledger(run)
    return [_probe(ledger, name) for name in ledger.results]


def _probe(ledger: Ledger, name: str) -> ET.Element:
    row, result = ledger.row(name), ledger.results[name]
    case = _case(name, ledger.probes[name].file)
    if math.isfinite(result.latency_ms):
        case.set("time", f"{result.latency_ms / 1000:.6f}")
    if row.state == "skipped":
        return _skipped(case, row.outcome)
    if row.state == "failed":
        kind = "failure" if str(result.status) == "ok" else "error"
        failure = ET.SubElement(case, kind, message=_fit(row.outcome))
        failure.text = "\n".join(_fit(line) for line in probe_text(ledger, name).split("\n"))
    return case


def _case(name: str, file: str) -> ET.Element:
    return ET.Element("testcase", classname=_fit(file or "memeval"), name=_fit(name))


def _skipped(case: ET.Element, why: str) -> ET.Element:
    ET.SubElement(case, "skipped", message=_fit(why))
    return case


def _fit(text: str) -> str:
    """Text that is safe to show, with what XML does not allow as its code."""
    return _UNFIT.sub(lambda found: f"<U+{ord(found[0]):04X}>", visible(text))
