"""A memory behind an HTTP API, as a YAML file declares it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.answers import hits_of, picked
from memeval.stores.base import BaseStore
from memeval.stores.declared import Declaration
from memeval.stores.needing import needed
from memeval.stores.templates import filled, secrets_of
from memeval.text import visible

TIMEOUT_S = 30.0
MOST_SHOWN = 300
CONNECTIONS = 64


class HttpStore(BaseStore):
    """An HTTP API; which requests do what stands in a file.

    Parameters
    ----------
    declaration : Declaration
        From `memeval.stores.declared.load_store`.

    Raises
    ------
    StoreError
        If the extra ``http`` is not installed, or an environment variable is not set.

    Notes
    -----
    One pool of connections serves all threads. What is filled into a path is percent-encoded. A
    redirect is not followed: what it would send elsewhere may be a secret. An answer outside of 2xx
    is a failed call, unless ``empty_on`` names its status. Secrets come from the environment and
    are taken out of every message.
    """

    def __init__(self, declaration: Declaration) -> None:
        httpx = needed("httpx", store=declaration.name, extra="http")
        self.declaration, said = declaration, declaration.said
        self.capabilities = declaration.capabilities
        wanted = sorted(secrets_of(dict(said)))
        lacking = [name for name in wanted if name not in os.environ]
        if lacking:
            raise StoreError(
                f"{declaration.name}: it asks for {', '.join(lacking)}, wanted in the environment "
                "and not set there; set it before the run"
            )
        self._secrets = [os.environ[name] for name in wanted]
        self._errors = (httpx.HTTPError, httpx.InvalidURL)
        self._client = httpx.Client(
            base_url=filled(said["base"], {}),
            headers=filled(said.get("headers", {}), {}),
            timeout=float(said.get("timeout_s", TIMEOUT_S)),
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
        )
        optional: dict[str, Callable[..., Any]] = {
            "put_many": self._put_many, "delete": self._delete, "clear": self._clear,
            "count": self._count,
        }  # fmt: skip
        for name, method in optional.items():
            if name in said:  # what is not declared, the store does not have
                setattr(self, name, method)

    def put(self, record: Record) -> Receipt:
        """Write one record."""
        if "put" not in self.declaration.said:
            return self._put_many([record])[0]
        answer = self._ask("put", values_of(record))
        return receipt_of(answer, self.declaration.said["put"], record)

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return the hits of the answer, at most k, in its order."""
        said = self.declaration.said["search"]
        answer = self._ask("search", asked(query, k, scope, filter, now))
        return [] if answer is None else hits_of(answer, said)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def info(self) -> dict[str, Any]:
        """Name, version and label as declared, for the manifest; no address."""
        return self.declaration.info()

    def __repr__(self) -> str:
        return f"HttpStore({self.declaration.name!r})"

    def _put_many(self, records: Iterable[Record]) -> list[Receipt]:
        said, receipts, kept = self.declaration.said["put_many"], list[Receipt](), list(records)
        size = said.get("batch", 100)
        for start in range(0, len(kept), size):
            batch = kept[start : start + size]
            answer = self._ask("put_many", {"records": [values_of(one) for one in batch]})
            told = picked(answer, said["ids"]) if "ids" in said else [one.id for one in batch]
            if len(told) != len(batch):
                raise StoreError(
                    f"put_many: the answer has {len(told)} ids at {said['ids']!r} for "
                    f"{len(batch)} records; mend put_many.ids"
                )
            receipts += [Receipt("stored", (str(one),)) for one in told]
        return receipts

    def _delete(self, store_id: str, *, scope: str) -> None:
        self._ask("delete", {"store_id": store_id, "scope": scope})

    def _clear(self) -> None:
        self._ask("clear", {})

    def _count(self) -> int:
        path = self.declaration.said["count"].get("value", "$")
        found = picked(self._ask("count", {}), path)
        if len(found) == 1 and isinstance(found[0], list):
            return len(found[0])
        if len(found) != 1 or not isinstance(found[0], int):
            raise StoreError(f"count: the answer has no number at {path!r}; mend count.value")
        return found[0]

    def _ask(self, name: str, values: Mapping[str, Any]) -> Any:
        """Send one request and read its answer as JSON; None where its status means nothing."""
        said = self.declaration.said[name]
        method = said.get("method", "POST")
        path = filled(said["path"], values, lambda text: quote(text, safe=""))
        where = f"{name}: {method} {said['path']}"
        try:
            answer = self._client.request(
                method,
                path,
                params=filled(said["query"], values) if "query" in said else None,
                headers=filled(said["headers"], values) if "headers" in said else None,
                json=filled(said["json"], values) if "json" in said else None,
            )
        except self._errors as error:
            raise StoreError(
                f"{where}: {self._safe(f'{type(error).__name__}: {error}')}; is the service up, "
                "and is base right?"
            ) from None  # the cause may hold a secret
        if answer.status_code in said.get("empty_on", ()):
            return None
        if not answer.is_success:
            raise StoreError(
                f"{where}: status {answer.status_code}, wanted 2xx: {self._safe(answer.text)}"
            )
        if not answer.content:
            return {}
        try:
            return answer.json()
        except ValueError as error:
            raise StoreError(
                f"{where}: the answer is no JSON: {self._safe(answer.text)}"
            ) from error

    def _safe(self, text: str) -> str:
        for secret in filter(None, self._secrets):
            text = text.replace(secret, "***")
        return visible(text[:MOST_SHOWN])


def values_of(record: Record) -> dict[str, Any]:
    """What a template may say of a record."""
    return {
        "id": record.id,
        "text": record.text,
        "scope": record.scope,
        "at": None if record.at is None else record.at.isoformat(),
        "expires": None if record.expires is None else record.expires.isoformat(),
        "supersedes": list(record.supersedes),
        "meta": dict(record.meta),
    }


def asked(
    query: str, k: int, scope: str, filter: Mapping[str, Any] | None, now: datetime | None
) -> dict[str, Any]:
    """What a template may say of a question."""
    return {
        "query": query,
        "k": k,
        "scope": scope,
        "filter": None if filter is None else dict(filter),
        "now": None if now is None else now.isoformat(),
    }


def receipt_of(answer: Any, said: Mapping[str, Any], record: Record) -> Receipt:
    """What a write came to, as its answer tells it."""
    if "ids" not in said:
        return Receipt("stored", (record.id,))
    ids = tuple(str(one) for one in picked(answer, said["ids"]) if one is not None)
    return Receipt("stored" if len(ids) == 1 else "split" if ids else "merged", ids)
