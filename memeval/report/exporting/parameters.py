"""Parameters of a notebook: read without running anything, checked, and put in by one cell.

The cell that holds them is tagged ``parameters``, the one that is put in after it
``injected-parameters``, as papermill does it.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from memeval.checks.kinds import nearest
from memeval.errors import MemevalError

TAG = "parameters"
INJECTED = "injected-parameters"
UNKNOWN = object()
"""Default of a parameter that is computed: it is not known before the notebook runs."""
_WORDS = {"true": True, "false": False, "null": None, "none": None}


def defaults(notebook: Any) -> dict[str, Any]:
    """Parameters of a notebook with their defaults, in their order.

    Parameters
    ----------
    notebook : nbformat.NotebookNode or mapping
        A notebook of format 4.

    Returns
    -------
    dict
        Name to value; `UNKNOWN` where the value is no literal. Empty where no cell is tagged
        ``parameters``.

    Raises
    ------
    MemevalError
        If two cells are tagged so, or the cell is no Python.
    """
    cells = [cell for cell in notebook["cells"] if _tagged(cell, TAG)]
    if len(cells) > 1:
        raise MemevalError(
            f"found {len(cells)} cells tagged {TAG!r}, wanted one; take the tag off the others"
        )
    return _assigned("".join(cells[0]["source"])) if cells else {}


def _assigned(source: str) -> dict[str, Any]:
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise MemevalError(
            f"the cell tagged {TAG!r} is no plain Python (line {error.lineno}: {error.msg}); write "
            "one 'name = value' a line"
        ) from error
    found: dict[str, Any] = {}
    for node in body:
        for target in _targets(node):
            found[target] = _literal(node.value)  # type: ignore[attr-defined]
    return found


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return UNKNOWN


def parse(pairs: Iterable[str], known: Mapping[str, Any]) -> dict[str, Any]:
    """Read what was written as ``key=value``.

    Parameters
    ----------
    pairs : iterable of str
        Where the default of a parameter is a text, the value is taken as it is. Else it is read as
        a Python literal (``7``, ``0.5``, ``None``, ``['a', 'b']``) or as ``true``, ``false`` or
        ``null``; what is neither is text, so that a path needs no quotes where the default is None.
    known : mapping
        What `defaults` gives.

    Raises
    ------
    MemevalError
        If one is no pair, or named twice.

    Examples
    --------
    >>> parse(["seed=3", "store=7", "probes=my probes"], {"seed": 7, "store": "sqlite"})
    {'seed': 3, 'store': '7', 'probes': 'my probes'}
    """
    read: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise MemevalError(
                f"-p: found {pair!r}, wanted NAME=VALUE such as seed=3; write the name of a "
                "parameter, an equals sign and its value"
            )
        if name in read:
            raise MemevalError(f"-p: {name} is given twice; leave one of them out")
        read[name] = text if isinstance(known.get(name), str) else _value(text)
    return read


def _value(text: str) -> Any:
    if text.strip().lower() in _WORDS:
        return _WORDS[text.strip().lower()]
    try:
        with warnings.catch_warnings():  # a path may look like an odd literal
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def checked(given: Mapping[str, Any], known: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Hold values against the parameters that a notebook has.

    Parameters
    ----------
    given : mapping
        Name to value: a plain value, or a path.
    known : mapping
        What `defaults` gives.
    where : str
        The notebook, for the message.

    Returns
    -------
    dict
        The values as they are put in: a path is text, a whole number for a fraction is one.

    Raises
    ------
    MemevalError
        If a name is unknown, a value has another type than the default, or is nothing that Python
        can write down and read again. All of them are told at once.

    Notes
    -----
    Anything plain may take the place of ``None`` and of a default that is computed.

    Examples
    --------
    >>> checked({"seed": 3, "share": 1}, {"seed": 7, "share": 0.5}, "nb")
    {'seed': 3, 'share': 1.0}
    """
    faults: list[str] = []
    fitting: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            has = ", ".join(f"{one}={_told(known[one])}" for one in known)
            faults.append(
                f"found no parameter {name!r} ({nearest(name, known)}); it has {has}"
                if known
                else f"found no parameter {name!r}: no cell is tagged {TAG!r}; tag the one that "
                "holds them"
            )
            continue
        plain = os.fspath(value) if isinstance(value, os.PathLike) else value
        fault, fitting[name] = _fitted(plain, known[name])
        if fault:
            faults.append(f"{name}: {fault}")
    if faults:
        raise MemevalError("\n".join(f"{where}: {fault}" for fault in faults))
    return fitting


def _fitted(value: Any, default: Any) -> tuple[str, Any]:
    """What is wrong with a value, and the value as it is put in."""
    if not _written_down(value):
        wanted = "wanted a plain value (text, number, true or false, None, a list or dict of these)"
        return f"found {_told(value)}, {wanted}; give one", value
    if default is None or default is UNKNOWN or type(value) is type(default):
        return "", value
    if type(default) is float and type(value) is int:
        return "", float(value)
    if isinstance(default, list | tuple) and isinstance(value, list | tuple):
        return "", type(default)(value)
    kind = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}
    name = type(default).__name__
    return f"found {_told(value)}, wanted {kind.get(name, name)} such as {_told(default)}", value


def _written_down(value: Any) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


def _told(value: Any) -> str:
    text = "(computed)" if value is UNKNOWN else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def inject(notebook: Any, values: Mapping[str, Any]) -> None:
    """Put values into a notebook, in a cell after that of its parameters.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        It is changed; a cell that was put in before gives way.
    values : mapping
        What `checked` gives. Without any, nothing is put in.
    """
    from nbformat.v4 import new_code_cell

    cells = notebook["cells"]
    if not values:
        return
    cells[:] = [cell for cell in cells if not _tagged(cell, INJECTED)]
    source = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    cell = new_code_cell(  # type: ignore[no-untyped-call]
        f"# Parameters\n{source}", id=INJECTED, metadata={"tags": [INJECTED]}
    )
    at = next(n for n, one in enumerate(cells) if _tagged(one, TAG))
    cells.insert(at + 1, cell)


def shown_parameters(notebook: Any) -> dict[str, tuple[str, bool]]:
    """Parameters as they are told: name to the value as Python, and whether it was put in."""
    told = {name: (_told(value), False) for name, value in defaults(notebook).items()}
    for cell in notebook["cells"]:
        if _tagged(cell, INJECTED):
            values = _assigned("".join(cell["source"]))
            told |= {name: (_told(value), True) for name, value in values.items()}
    return told


def _tagged(cell: Any, tag: str) -> bool:
    return cell["cell_type"] == "code" and tag in cell.get("metadata", {}).get("tags", [])
