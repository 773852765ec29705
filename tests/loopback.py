"""A server on loopback that a test scripts: one function answers every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Answer = tuple[int, Any]


class Request:
    """What was asked: method, path in parts, query, headers, body."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        self.method, self.raw = handler.command, handler.path
        self.path = [unquote(part) for part in parts.path.split("/")[1:]]
        self.query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.headers = dict(handler.headers)
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.json = json.loads(body) if body else None


@contextmanager
def serving(answer: Callable[[Request], Answer]) -> Iterator[str]:
    """Address of a server that gives these answers; a body of bytes is sent as it is."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do(self) -> None:
            status, told = answer(Request(self))
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

        def log_message(self, *told: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
