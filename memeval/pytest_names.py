"""Names of items that a node id can hold: pytest takes it apart again to find an item."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["CONTROLS", "item_names"]

CONTROLS = "controls"
OTHER_CONTROLS = "controls-of-the-suite"
_SAFE = str.maketrans({"[": "(", "]": ")", "/": "-", "\\": "-"})


def item_names(probes: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Name the controls and the probes as items.

    Parameters
    ----------
    probes : iterable of str
        Names of all probes, each of them once.

    Returns
    -------
    controls : str
        A name that no probe has.
    names : dict of str to str
        By probe, each of them once: its own name where a node id can hold it.

    Examples
    --------
    >>> item_names(["kiosk", "a[1]", "a(1)", "controls"])[1]
    {'kiosk': 'kiosk', 'a(1)': 'a(1)', 'controls': 'controls', 'a[1]': 'a(1)-2'}
    """
    told = list(probes)
    controls = CONTROLS if CONTROLS not in told else OTHER_CONTROLS
    names = {name: name for name in told if _safe(name) == name}
    taken = {*names, CONTROLS}
    for name in told:
        if name not in names:
            names[name] = _free(_safe(name), taken)
            taken.add(names[name])
    return _free(controls, taken - {CONTROLS}), names


def _safe(name: str) -> str:
    plain = "".join(char if char.isprintable() else "-" for char in name.translate(_SAFE))
    return plain.replace("::", "--")


def _free(name: str, taken: set[str]) -> str:
    found, n = name, 1
    while found in taken:
        n += 1
        found = f"{name}-{n}"
    return found
