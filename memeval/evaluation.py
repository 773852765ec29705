"""The evaluation call: cases in JSON, asked of a store that is full already, answered in JSON.

Reading leaves no trace: every query is asked of the store as it was before the call, in a scratch
or a fork of it. What the numbers are stands in `memeval.metrics` and `memeval.summary`; their names
are those of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memeval.checks.kinds import shown
from memeval.errors import Fault, RequestError
from memeval.evaluating.answer import answer
from memeval.evaluating.asking import ask_all, how_aside
from memeval.evaluating.request import Request, read_request
from memeval.stores.bound import BoundStore

__all__ = ["evaluate_request"]

EMBEDDING_KEYS = ("embedding_generation", "embedding", "embedder")


def evaluate_request(
    request: object, store: Any, *, timeout_s: float | None = None
) -> dict[str, Any]:
    """Answer one evaluation call.

    Parameters
    ----------
    request : mapping
        The JSON body: ``agentId`` (required, the scope that is searched), ``cases`` (1 to 200, each
        with ``query``, ``expectedIds``, ``forbiddenIds``, ``staleIds``), ``k`` (default 10, at most
        100), ``workspaceId``, ``datasetVersion``. A case without expected ids expects an empty
        answer.
    store : Store or mapping of str to Store
        An open store that is full already, never a factory; several by the id of their workspace.
    timeout_s : float, optional
        Time limit of one search, in seconds.

    Returns
    -------
    dict
        Plain values, ready for JSON; undefined is None.

        - ``passed``, ``reason``: False on a forbidden memory anywhere in an answer, or on a search
          that failed.
        - ``hitRate``, ``recallAtK``, ``precisionAtK``, ``mrr``, ``ndcgAtK``: `memeval.summarize`'s
          recall_any, recall_fraction, precision, mrr and ndcg, over the cases that expect
          something.
        - ``forbiddenRate``: share of cases with a leak, None where no case forbids anything;
          ``forbiddenSurfaced``: case, id and rank of each.
        - ``staleRate``, ``zeroResultRate``, ``abstentionAccuracy``, ``meanContextTokens``,
          ``llmCalls``: staleness, zero_result_rate, abstention, context_tokens, llm_calls.
        - ``latencyMs``: p50, p95, p99 of the searches, in milliseconds.
        - ``intervals``: low and high of the 95 % interval of each, and ``n``.
        - ``manifest``: ``dataset`` (label and hash of the cases), ``k``, ``scoreVersion``,
          ``mode``, ``embeddingGeneration``, ``codeVersion``. Where two differ, do not compare.
        - ``perCase``: the same for each query, with ids, ranks and scores of what came back.

    Raises
    ------
    RequestError
        If the body is at fault; ``to_dict()`` is the error object of the call.
    StoreError
        If the store can neither ``scratch`` nor ``fork`` and does not declare ``traceless``; or if
        one of these fails.

    Notes
    -----
    Deterministic as far as the store is: apart from latencies, the same body asked of the same
    store gets the same answer, whatever was evaluated before.

    Examples
    --------
    >>> import memeval as me
    >>> store = me.SqliteStore()
    >>> _ = store.put(me.Record("m-7", "Invoice numbers come from the billing service.", "ana"))
    >>> case = {"query": "how are invoice numbers generated", "expectedIds": ["m-7"]}
    >>> told = evaluate_request({"agentId": "ana", "cases": [case]}, store)
    >>> told["passed"], told["recallAtK"], told["manifest"]["mode"]
    (True, 1.0, 'deterministic (scratch)')
    """
    read = read_request(request)
    chosen = _chosen(store, read)
    bound = chosen if isinstance(chosen, BoundStore) else BoundStore(chosen, timeout_s=timeout_s)
    way = how_aside(bound)
    asked = ask_all(bound, read.cases, k=read.k, scope=read.agent)
    return answer(read, asked, mode=f"deterministic ({way})", embedding=_embedding(bound))


def _chosen(store: Any, request: Request) -> Any:
    """The store of the workspace; where there is one store only, it is the workspace."""
    if not isinstance(store, Mapping):
        return store
    if request.workspace in store:
        return store[request.workspace]
    if request.workspace is None:
        fault = Fault("the workspace is missing", "name the one to ask", "workspaceId")
    else:  # which others there are is nobody's business
        found = f"unknown workspace {shown(request.workspace)}"
        fault = Fault(found, "name one that there is", "workspaceId")
    raise RequestError([fault])


def _embedding(store: BoundStore) -> str | None:
    told = store.info()
    return next((str(told[key]) for key in EMBEDDING_KEYS if told.get(key) is not None), None)
