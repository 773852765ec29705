"""A memory server that speaks MCP, for tests: ``python mcp_memory.py KIND [PORT]``.

All of it stands in a function, since it is imported where there is no MCP.
"""

from __future__ import annotations

import re
import sys
import time


def main() -> None:
    from mcp.server import MCPServer

    KIND = sys.argv[1]
    server = MCPServer("test-memory")
    kept: dict[tuple[str, str], str] = {}
    sys.stderr.write("the server is up\n")

    def ranked(scope: str, query: str) -> list[tuple[str, str, int]]:
        asked = set(re.findall(r"\w+", query.lower()))
        scored = [(i, t, len(asked & set(re.findall(r"\w+", t.lower()))))
                  for (where, i), t in kept.items() if where == scope]  # fmt: skip
        return sorted((one for one in scored if one[2]), key=lambda one: -one[2])

    if KIND == "prose":

        @server.tool()
        def remember(note: str, user_id: str) -> str:
            number = str(len(kept))
            kept[user_id, number] = note
            return f"Stored as #{number}."

        @server.tool()
        def recall(query: str, user_id: str) -> str:
            found = ranked(user_id, query)
            return "\n".join(f"- #{i} {t} ({s})" for i, t, s in found) or "Nothing is known."

    else:

        @server.tool()
        def add_memory(text: str, id: str, user_id: str = "all") -> dict[str, str]:
            kept[user_id, id] = text
            return {"id": id}

        @server.tool()
        def search_memory(
            query: str, limit: int = 5, user_id: str = "all"
        ) -> list[dict[str, object]]:
            if query == "FAIL":
                raise ValueError("no quota left")
            if query == "HANG":
                time.sleep(60)
            if query == "DIE":
                sys.stderr.write("out of memory\n")

                sys.stderr.flush()
                import os

                os._exit(3)
            return [{"id": i, "text": t, "score": s} for i, t, s in ranked(user_id, query)[:limit]]

        @server.tool()
        def delete_memory(id: str, user_id: str = "all") -> str:
            kept.pop((user_id, id), None)
            return "ok"

        if KIND == "several":

            @server.tool()
            def find_documents(query: str) -> list[str]:
                return []

    if len(sys.argv) > 2:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
