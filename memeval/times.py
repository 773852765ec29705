"""Times and spans of time, as people write them, made into one kind each.

A time is a `datetime.datetime` in UTC, whatever it was before: a date means its midnight, and a
time without a zone is taken as UTC. A span is written as a whole number and a letter.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

SPANS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
LONGEST = timedelta(days=36_500)
# What YAML 1.1 takes as a time and ISO 8601 does not: one-digit parts, a blank before the zone.
YAML_TIME = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?"
    r"[ \t]*(?:([Zz])|([-+])(\d\d?)(?::?(\d\d))?)?"
)


def as_utc(moment: date) -> datetime:
    """Make one kind of time of a date, a time without a zone, or a time with one.

    Parameters
    ----------
    moment : datetime.date or datetime.datetime
        A date means midnight; a time without a zone is taken as UTC.

    Returns
    -------
    datetime.datetime
        The same moment in UTC.

    Raises
    ------
    ValueError
        If the moment lies before year 1 or after year 9999 once it is in UTC.

    Examples
    --------
    >>> as_utc(date(2026, 3, 1))
    datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("it is out of range in UTC") from error


def parse_time(written: str) -> datetime:
    """Read a time in ISO 8601, or as YAML 1.1 writes it.

    Raises
    ------
    ValueError
        If it is no time, or one that does not exist.

    Examples
    --------
    >>> parse_time("2026-03-01T09:00:00+02:00").isoformat()
    '2026-03-01T07:00:00+00:00'
    >>> parse_time("2026-3-1 9:00:00 -5").isoformat()
    '2026-03-01T14:00:00+00:00'
    """
    written = written.strip()
    match = YAML_TIME.fullmatch(written)
    return as_utc(_from_yaml(match) if match else datetime.fromisoformat(written))


def _from_yaml(match: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second, fraction, zulu, sign, hours, minutes = match.groups()
    micro = int(((fraction or "") + "000000")[:6])
    clock = int(hour), int(minute), int(second), micro
    moment = datetime(int(year), int(month), int(day), *clock)
    if zulu or not sign:
        return moment.replace(tzinfo=UTC)
    if int(hours) > 23 or int(minutes or 0) > 59:
        raise ValueError("its zone is out of range")
    ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
    try:
        return (moment - ahead if sign == "+" else moment + ahead).replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("it is out of range in UTC") from error


def parse_span(written: str) -> timedelta:
    """Read a span of time: a whole number and one of w, d, h, m, s.

    Raises
    ------
    ValueError
        If it is not written so, is zero, or longer than 100 years.

    Examples
    --------
    >>> parse_span("30d")
    datetime.timedelta(days=30)
    """
    match = re.fullmatch(r"([0-9]{1,12})([wdhms])", written.strip())
    if match is None:
        raise ValueError("it is no whole number with w, d, h, m or s behind it")
    count, unit = int(match[1]), SPANS[match[2]]
    if count == 0 or count > LONGEST / timedelta(**{unit: 1}):
        raise ValueError("it is not between one second and 100 years")
    return timedelta(**{unit: count})


def write_span(span: timedelta) -> str:
    """Write a span as `parse_span` reads it, in the largest unit that fits evenly.

    Examples
    --------
    >>> write_span(timedelta(hours=36))
    '36h'
    """
    seconds = max(1, round(span.total_seconds()))
    sizes = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}
    unit = next(u for u, size in sizes.items() if seconds % size == 0)
    return f"{seconds // sizes[unit]}{unit}"
