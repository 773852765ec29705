"""Graphiti: a graph of facts that a model reads out of texts, and their times."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import BaseStore, Capabilities
from memeval.stores.needing import needed, version_of
from memeval.stores.sqlite_rows import check_question

SOURCES = ("text", "message", "json")
QUIET = {"GRAPHITI_TELEMETRY_ENABLED": "false"}
ENCODED = "x_"
TIMES = ("valid_at", "invalid_at", "expired_at")


class _Episode(NamedTuple):
    """What was written as one episode."""

    record: str
    group: str
    facts: list[str]


class GraphitiStore(BaseStore):
    """A graph of ``graphiti-core``: a record is an episode of it, a scope a ``group_id``.

    Parameters
    ----------
    graph : object
        A ``Graphiti`` of your own, with its driver, its model and its embedder; its indices are
        built already. Nothing may have been asked of it in another event loop than memeval's: its
        clients belong to the loop that used them first.
    source : {'text', 'message', 'json'}
        What the texts are, as graphiti tells its model; a ``message`` names its speaker before a
        colon.
    search_filter : object, optional
        ``SearchFilters`` of graphiti for every search, such as those for facts that still hold.
    closes : bool
        Whether `close` closes the graph: say so where it was made for this store alone.

    Raises
    ------
    StoreError
        If the extra ``graphiti`` is not installed, ``graph`` is no ``Graphiti``, or ``source`` is
        another word.

    Notes
    -----
    `put` is ``add_episode``, at the time of the record or now: the model makes facts (edges) of a
    text, and of a fact that is there already only a further episode of it. The receipt has the id
    of the episode, those of the facts and their texts; where every fact was there already, or there
    was none, it says merged. A second `put` of an id is ``remove_episode`` and ``add_episode``;
    what the first one did to older facts, such as ending them, stays. Where the model makes no
    fact of the words of the self check, say ``check_store=False``.

    `search` is ``Graphiti.search`` as it comes: facts without scores, also those that hold no more,
    with their ``invalid_at`` in the metadata, and the id of the record where this store wrote it.
    Its ``k`` stays behind in graphiti: the next `put` compares its facts with no more older ones.
    On Kuzu the full-text half is cut before groups are told apart. `delete` of an episode takes the
    facts that no other tells, and asks the model for new summaries of what is left.

    Graphiti takes letters, digits, ``-`` and ``_`` in a group: any other scope is written as
    ``x_`` and the hexadecimal digits of its bytes. Histories have scopes of their own in one graph,
    and are taken away by `delete`: nothing of yours is touched. Telemetry is turned off from when a
    store or a graph is made here, unless you have set ``GRAPHITI_TELEMETRY_ENABLED``.

    Examples
    --------
    >>> store = GraphitiStore(kuzu_graph())  # doctest: +SKIP
    >>> await store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> await store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    capabilities = Capabilities(ids="meta", rewrites=True, dedupes=True, isolation="namespace")

    def __init__(
        self,
        graph: Any,
        *,
        source: str = "text",
        search_filter: Any = None,
        closes: bool = False,
    ) -> None:
        core = _graphiti("graphiti_core")
        if not isinstance(graph, core.Graphiti):
            raise StoreError(
                f"graph is a {type(graph).__name__}, wanted a Graphiti; give one with a driver and "
                "a model of yours, or kuzu_graph()"
            )
        if source not in SOURCES:
            raise StoreError(f"source is {source!r}, wanted one of {', '.join(SOURCES)}")
        self._episode_type = _graphiti("graphiti_core.nodes").EpisodeType[source]
        self._edges = _graphiti("graphiti_core.edges").EntityEdge
        self.graph = _with_database(graph)
        self.source = source
        self.search_filter = search_filter
        self.closes = closes
        self._episodes: dict[str, _Episode] = {}
        self._last: dict[str, str] = {}  # uuid of the last episode of each record
        self._spared: set[str] = set()  # facts that outlived an episode whose receipt names them

    async def put(self, record: Record) -> Receipt:  # type: ignore[override]
        """Add a record as an episode, in place of an earlier one of this id."""
        if record.id in self._last:
            await self._remove(self._last[record.id])
        group = group_of(record.scope)
        added = await self.graph.add_episode(
            name=record.id,
            episode_body=record.text,
            source=self._episode_type,
            source_description="something to remember",
            reference_time=(record.at or datetime.now(UTC)).astimezone(UTC),  # Kuzu drops offsets
            group_id=group,
        )
        uuid = str(added.episode.uuid)
        facts = [edge for edge in added.edges if uuid in edge.episodes]  # others end with it
        self._episodes[uuid] = _Episode(record.id, group, [edge.uuid for edge in facts])
        self._last[record.id] = uuid
        return _receipt(uuid, facts)

    async def search(  # type: ignore[override]
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k facts of the group, in the order of graphiti."""
        check_question(query, k, scope)
        group = group_of(scope)
        found = await self.graph.search(
            query,
            group_ids=[group],
            num_results=k,
            search_filter=self.search_filter,
            driver=self.graph.driver.clone(database=group),
        )
        return [Hit(edge.uuid, edge.fact, None, self._told(edge)) for edge in found]

    def _told(self, edge: Any) -> dict[str, Any]:
        """Which records a fact came of, the first as its id, and from when to when it holds."""
        names = [self._episodes[one].record for one in edge.episodes if one in self._episodes]
        told: dict[str, Any] = {"id": names[0]} if names else {}
        if len(names) > 1:
            told["records"] = names
        times = {name: getattr(edge, name) for name in TIMES}
        return told | {name: at.isoformat() for name, at in times.items() if at}

    async def delete(self, store_id: str, *, scope: str) -> None:
        """Remove an episode with the facts that no other tells, or one fact, of a scope.

        A receipt names the episode first and then its facts: one that outlived its episode stays.
        """
        group, episode = group_of(scope), self._episodes.get(store_id)
        if episode is not None:
            if episode.group == group:
                await self._remove(store_id)
        elif store_id in self._spared:
            self._spared.discard(store_id)
        else:
            driver = self.graph.driver.clone(database=group)
            for edge in await self._edges.get_by_uuids(driver, [store_id]):
                if edge.group_id == group:
                    await edge.delete(driver)

    async def _remove(self, uuid: str) -> None:
        episode = self._episodes[uuid]
        graph = _within(self.graph, episode.group)
        await graph.remove_episode(uuid)
        left = await self._edges.get_by_uuids(graph.driver, episode.facts)
        self._spared.update(edge.uuid for edge in left)
        del self._episodes[uuid]
        if self._last.get(episode.record) == uuid:
            del self._last[episode.record]

    async def close(self) -> None:  # type: ignore[override]
        """Close the graph where it was made for this store."""
        if self.closes:
            await self.graph.close()

    def info(self) -> dict[str, Any]:
        """Name, version, driver and clients, for the manifest."""
        graph = self.graph
        parts = {"driver": graph.driver, "llm": graph.llm_client, "embedder": graph.embedder}
        settings = getattr(graph.embedder, "config", None)
        return {
            "name": type(self).__name__,
            "version": version_of("graphiti-core"),
            **{name: type(part).__name__ for name, part in parts.items()},
            "model": getattr(graph.llm_client, "model", None),
            "embedding_model": getattr(settings, "embedding_model", None),
            "source": self.source,
            "filtered": self.search_filter is not None,
        }


def kuzu_graph(
    path: str = ":memory:",
    *,
    llm_client: Any = None,
    embedder: Any = None,
    cross_encoder: Any = None,
) -> Any:
    """Make a ``Graphiti`` on a Kuzu database in this process, for those without a graph server.

    Parameters
    ----------
    path : str
        File of the database; by default it is in memory.
    llm_client, embedder, cross_encoder : object, optional
        Clients of graphiti; by default those of OpenAI, with the key in ``OPENAI_API_KEY``. A
        search asks no cross encoder, yet graphiti makes one.

    Returns
    -------
    object
        The ``Graphiti``.

    Raises
    ------
    StoreError
        If the extra ``graphiti``, or ``kuzu`` with it, is not installed.

    Notes
    -----
    Kuzu is developed no more and graphiti is to leave it, so it is for trying out. Its full-text
    indices are made here: ``build_indices_and_constraints`` does nothing on Kuzu, and without them
    neither a fact can be added nor a search be made.
    """
    core = _graphiti("graphiti_core")
    _graphiti("kuzu")
    module = _graphiti("graphiti_core.driver.kuzu_driver")
    queries = _graphiti("graphiti_core.graph_queries")
    with warnings.catch_warnings():
        # Said in the notes above.
        warnings.filterwarnings("ignore", "The Kuzu backend is deprecated", DeprecationWarning)
        driver = module.KuzuDriver(path)
    made = module.kuzu.Connection(driver.db)
    there = {row[1] for row in made.execute("CALL SHOW_INDEXES() RETURN *").get_all()}
    for query in queries.get_fulltext_indices(driver.provider):
        if not any(f"'{name}'" in query for name in there):
            made.execute(query)
    made.close()
    graph = core.Graphiti(
        graph_driver=driver, llm_client=llm_client, embedder=embedder, cross_encoder=cross_encoder
    )
    return _with_database(graph)


def group_of(scope: str) -> str:
    """Group of a scope: the scope itself where graphiti takes it, else its bytes.

    Examples
    --------
    >>> group_of("alice"), group_of("o'x"), group_of("x_6f2778"), group_of("")
    ('alice', 'x_6f2778', 'x_785f366632373738', 'x_')
    """
    if re.fullmatch("[A-Za-z0-9_-]+", scope) and not scope.startswith(ENCODED):
        return scope
    return ENCODED + scope.encode("utf-8", "surrogatepass").hex()


def _graphiti(module: str) -> Any:
    return needed(module, store="graphiti", extra="graphiti", environ=QUIET)


def _with_database(graph: Any) -> Any:
    """The graph, its driver with a name of its database: that of Kuzu has none, and is asked."""
    if not hasattr(graph.driver, "_database"):
        graph.driver._database = ""
    return graph


def _within(graph: Any, group: str) -> Any:
    """The graph as its driver has it for a group: some keep each in a database of its own."""
    driver = graph.driver.clone(database=group)
    if driver is graph.driver:
        return graph
    there = copy.copy(graph)
    there.driver, there.clients = driver, graph.clients.model_copy(update={"driver": driver})
    return there


def _receipt(episode: str, facts: Sequence[Any]) -> Receipt:
    """What came of an episode: its own id first, so that it can be removed whatever came of it."""
    ids = (episode, *(edge.uuid for edge in facts))
    texts = tuple(edge.fact for edge in facts)
    if all(len(edge.episodes) > 1 for edge in facts):
        return Receipt("merged", ids, texts)
    return Receipt("stored" if len(facts) == 1 else "split", ids, texts)
