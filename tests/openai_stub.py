"""A model behind OpenAI's API on loopback, that answers by script and never thinks."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loopback import Request, serving

DIMENSION = 64


def embedded(text: str) -> list[float]:
    """Words of a text, each in the place of its hash."""
    vector = [0.0] * DIMENSION
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % DIMENSION] += 1.0
    return vector if any(vector) else [1.0] * DIMENSION


def facts(prompt: str) -> list[str]:
    """What the model is to remember of the newest message: a greeting is nothing, 'and' splits."""
    said = re.findall(r"^user: (.+)$", prompt, re.MULTILINE)
    newest = said[-1] if said else ""
    if newest.lower().startswith("hello"):
        return []
    return [part.strip(" .") for part in re.split(r"\band\b", newest) if part.strip(" .")]


class Model:
    """Answers chat completions and embeddings.

    Attributes
    ----------
    asked : list of str
        Paths of all requests.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, request: Request) -> tuple[int, Any]:
        """Answer one request."""
        self.asked.append(request.raw)
        if request.raw.endswith("/embeddings"):
            given = request.json["input"]
            texts = [given] if isinstance(given, str) else given
            data = [
                {"object": "embedding", "index": n, "embedding": embedded(text)}
                for n, text in enumerate(texts)
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            return 200, {"object": "list", "model": "stub", "data": data, "usage": usage}
        prompt = request.json["messages"][-1]["content"]
        memories = [{"text": fact, "attributed_to": "user"} for fact in facts(prompt)]
        message = {"role": "assistant", "content": json.dumps({"memory": memories})}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        told = {"id": "stub", "object": "chat.completion", "created": 0, "model": "stub"}
        return 200, told | {"choices": [choice], "usage": usage}


@contextmanager
def model() -> Iterator[tuple[str, Model]]:
    """Address of the API, and the model behind it."""
    made = Model()
    with serving(made) as base:
        yield f"{base}/v1", made
