"""A model behind OpenAI's API on loopback, that reads facts out of texts for graphiti by script.

A sentence 'this is that' is a fact between two things. One that says 'now' makes the older ones
about the same thing false, and 'BROKEN' makes the model refuse.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loopback import Request, serving
from openai_stub import embedded

from memeval.stores.graphiti import GraphitiStore, kuzu_graph
from memeval.stores.waiting import finish

FACT = re.compile(r"(.+?) (?:now )?(is|of|likes|lives in|works at) (.+)")
NOTHING: dict[str, Any] = {"summaries": []}


def part(prompt: str, name: str) -> str:
    """What a prompt has between the tags of a name."""
    found = re.search(rf"<{name}>\n(.*?)\n\s*</{name}>", prompt, re.DOTALL)
    return found[1].strip() if found else ""


def facts(text: str) -> list[tuple[str, str, str, str]]:
    """Facts of a text: thing, verb, other thing, and the sentence."""
    sentences = [said.strip() for said in re.split(r"[.!?\n]", text)]
    found = [(FACT.fullmatch(said), said) for said in sentences]
    return [(*match.groups(), said) for match, said in found if match]


def entities(prompt: str) -> dict[str, Any]:
    """Things that the text names, each once."""
    told = facts(part(prompt, "TEXT") or part(prompt, "CURRENT MESSAGE"))
    names = dict.fromkeys(name for fact in told for name in (fact[0], fact[2]))
    return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}


def edges(prompt: str) -> dict[str, Any]:
    """Facts of the text, each from the time when it was said."""
    at = part(prompt, "REFERENCE_TIME").partition("  #")[0]
    return {
        "edges": [
            {
                "source_entity_name": thing,
                "target_entity_name": other,
                "relation_type": verb.upper().replace(" ", "_"),
                "fact": said,
                "valid_at": at,
            }
            for thing, verb, other, said in facts(part(prompt, "CURRENT_MESSAGE"))
        ]
    }


def duplicates(prompt: str) -> dict[str, Any]:
    """Older facts that say the same, and those that are false now."""
    (new,) = facts(part(prompt, "NEW FACT"))
    named = ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES")
    older, others = (ast.literal_eval(part(prompt, name)) for name in named)
    read = {one["idx"]: facts(one["fact"])[0] for one in older + others}
    same = [one["idx"] for one in older if read[one["idx"]][:3] == new[:3]]
    false = [
        idx for idx, fact in read.items()
        if " now " in new[3] and fact[:2] == new[:2] and fact[2] != new[2]
    ]  # fmt: skip
    return {"duplicate_facts": same, "contradicted_facts": false}


def resolutions(prompt: str) -> dict[str, Any]:
    """No thing is another one."""
    told = json.loads(part(prompt, "ENTITIES"))
    return {
        "entity_resolutions": [
            {"id": one["id"], "name": one["name"], "duplicate_candidate_id": -1} for one in told
        ]
    }


ANSWERS = {
    "ExtractedEntities": entities,
    "ExtractedEdges": edges,
    "EdgeDuplicate": duplicates,
    "NodeResolutions": resolutions,
    "EdgeTimestamps": lambda prompt: {"valid_at": None, "invalid_at": None},
    "SummarizedEntities": lambda prompt: NOTHING,
}


class Reader:
    """Answers chat completions and embeddings.

    Attributes
    ----------
    asked : Counter
        How often each kind of answer was asked for.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> tuple[int, Any]:
        """Answer one request."""
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        if request.raw.endswith("/embeddings"):
            self.asked["embeddings"] += 1
            given = request.json["input"]
            texts = [given] if isinstance(given, str) else given
            data = [
                {"object": "embedding", "index": n, "embedding": embedded(text)}
                for n, text in enumerate(texts)
            ]
            return 200, {"object": "list", "model": "stub", "data": data, "usage": usage}
        prompt = request.json["messages"][-1]["content"]
        if "BROKEN" in prompt:
            return 400, {"error": {"message": "the model is out of order", "type": "stub"}}
        kind = request.json["response_format"]["json_schema"]["name"]
        self.asked[kind] += 1
        message = {"role": "assistant", "content": json.dumps(ANSWERS[kind](prompt))}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        told = {"id": "stub", "object": "chat.completion", "created": 0, "model": "stub"}
        return 200, told | {"choices": [choice], "usage": usage}


@contextmanager
def reader() -> Iterator[tuple[str, Reader]]:
    """Address of the API, and the model behind it."""
    made = Reader()
    with serving(made) as base:
        yield f"{base}/v1", made


class Made:
    """A factory of stores that ask the scripted model."""

    def __init__(self, base: str, scripted: Reader) -> None:
        self.model = scripted
        self.api = importlib.import_module("openai").AsyncOpenAI(
            api_key="none", base_url=base, max_retries=0
        )

    def __call__(self, path: str = ":memory:", **options: Any) -> GraphitiStore:
        return GraphitiStore(self.graph(path), **options)

    def graph(self, path: str = ":memory:") -> Any:
        """A graph in a database of its own."""
        generic = importlib.import_module("graphiti_core.llm_client.openai_generic_client")
        embedder = importlib.import_module("graphiti_core.embedder.openai")
        reranker = importlib.import_module("graphiti_core.cross_encoder.openai_reranker_client")
        return kuzu_graph(
            path,
            llm_client=generic.OpenAIGenericClient(client=self.api),
            embedder=embedder.OpenAIEmbedder(client=self.api),
            cross_encoder=reranker.OpenAIRerankerClient(client=self.api),
        )

    def close(self) -> None:
        """Let go of the connections."""
        finish(self.api.close, (), None)
