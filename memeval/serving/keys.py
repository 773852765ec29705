"""Who may ask: bearer keys from the environment, each bound to agents and workspaces."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memeval.checks.kinds import nearest, shown
from memeval.errors import MemevalError
from memeval.evaluating.request import parse_json

__all__ = ["VARIABLE", "Key", "Keys", "read_keys"]

VARIABLE = "MEMEVAL_KEYS"
SHORTEST_SECRET = 16
FIELDS = ("id", "secret", "agents", "workspaces")
EXAMPLE = '[{"id": "ci", "secret": "…", "agents": ["ana"]}]'
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SECRET = re.compile(rf"[!-~]{{{SHORTEST_SECRET},256}}")


@dataclass(frozen=True, slots=True)
class Key:
    """One key, without its secret.

    Attributes
    ----------
    id : str
        Name of the key, for the log.
    agents : frozenset of str
        Whose visibility it may search with; its own identity ``apikey:<id>`` where none is bound.
    workspaces : frozenset of str or None
        Which stores it may ask; None for all.
    """

    id: str
    agents: frozenset[str]
    workspaces: frozenset[str] | None = None

    def may_ask(self, agent: str) -> bool:
        """Whether it is bound to an agent."""
        return agent in self.agents

    def may_enter(self, workspace: str | None) -> bool:
        """Whether it may ask the store of a workspace."""
        return self.workspaces is None or workspace in self.workspaces


class Keys:
    """All keys, found by their secret; only hashes of the secrets are kept."""

    def __init__(self, pairs: Iterable[tuple[str, Key]]) -> None:
        self._known = [(_hash(secret), key) for secret, key in pairs]

    def __len__(self) -> int:
        return len(self._known)

    def find(self, secret: str) -> Key | None:
        """The key of a secret, None for a stranger; as long whichever it is."""
        asked, found = _hash(secret), None
        for known, key in self._known:
            if hmac.compare_digest(asked, known):
                found = key
        return found


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def read_keys(environ: Mapping[str, str]) -> Keys:
    """Read the keys of the environment.

    Parameters
    ----------
    environ : mapping of str to str
        Where ``MEMEVAL_KEYS`` stands: a JSON list of objects with ``id``, ``secret`` (16 to 256
        visible ASCII characters), and where wanted ``agents`` and ``workspaces``, lists of texts.

    Raises
    ------
    MemevalError
        If it is not set or cannot be used. No message holds a secret.

    Examples
    --------
    >>> told = '[{"id": "ci", "secret": "not-a-real-secret"}]'
    >>> read_keys({"MEMEVAL_KEYS": told}).find("not-a-real-secret").agents
    frozenset({'apikey:ci'})
    """
    written = environ.get(VARIABLE, "").strip()
    if not written:
        raise MemevalError(
            f"{VARIABLE} is not set, wanted the keys that may ask as JSON, such as {EXAMPLE}; a "
            'secret is made with: python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    try:
        listed = parse_json(written.encode())
    except ValueError:  # its message would quote what stands there
        raise MemevalError(
            f"{VARIABLE} is no JSON, or a key stands twice in an object, wanted a list such as "
            f"{EXAMPLE}"
        ) from None
    if not isinstance(listed, list) or not listed:
        raise MemevalError(f"{VARIABLE} holds no list of keys, wanted one such as {EXAMPLE}")
    pairs = [_pair(entry, n) for n, entry in enumerate(listed)]
    for what, told in (("id", [key.id for _, key in pairs]), ("secret", [s for s, _ in pairs])):
        if len(set(told)) < len(told):
            raise MemevalError(f"{VARIABLE}: two keys have one {what}; give each its own")
    return Keys(pairs)


def _pair(entry: Any, n: int) -> tuple[str, Key]:
    place = f"{VARIABLE}[{n}]"
    if not isinstance(entry, Mapping):
        raise MemevalError(f"{place} is no object, wanted one such as {EXAMPLE[1:-1]}")
    for name in entry:
        if name not in FIELDS:
            raise MemevalError(f"{place}: unknown field {shown(name)}; {nearest(name, FIELDS)}")
    name, secret = entry.get("id"), entry.get("secret")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise MemevalError(
            f"{place}.id: found {shown(name)}, wanted up to 64 letters, digits, '.', '_' or '-'"
        )
    if not isinstance(secret, str) or not _SECRET.fullmatch(secret):
        raise MemevalError(
            f"{place}.secret of key {name!r} cannot be used, wanted {SHORTEST_SECRET} to 256 "
            "visible ASCII characters; make one with secrets.token_urlsafe(32)"
        )
    agents = _texts(entry.get("agents"), f"{place}.agents") or frozenset({f"apikey:{name}"})
    workspaces = _texts(entry.get("workspaces"), f"{place}.workspaces")
    return secret, Key(name, agents, workspaces)


def _texts(value: Any, place: str) -> frozenset[str] | None:
    """Texts of a list; None where it is left out."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise MemevalError(f"{place}: found {shown(value)}, wanted a list of texts")
    return frozenset(value)
