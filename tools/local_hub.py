"""A server on this machine that answers as the Hub does, as far as downloading and uploading a model goes."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "c0ffee" + "0" * 34


class Hub:
    """What the server holds.

    Args:
        models: name -> folder with its files, in the only revision, `main`.

    Attributes:
        requests: method and path of each request.
        uploaded: repository -> name of a file -> its bytes.
    """

    def __init__(self, models: Mapping[str, Path]) -> None:
        self.models = dict(models)
        self.requests: list[str] = []
        self.uploaded: dict[str, dict[str, bytes]] = {}
        self.address = ""

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body."""
        self.requests.append(f"{method} {path}")
        path = path.partition("?")[0]
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            self.uploaded[name] = {}
            return _json({"url": f"{self.address}/{name}", "name": name, "id": name})
        if path == "/api/validate-yaml":
            return _json({"errors": [], "warnings": []})
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            return self._model("/".join(parts[2:4]), parts[4:], body)
        if len(parts) == 5 and parts[2] == "resolve" and (folder := self.models.get("/".join(parts[:2]))):
            file = folder / parts[4]
            if file.is_file():
                data = file.read_bytes()
                return 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha1(data).hexdigest()}"'}, data
        return 404, {"X-Error-Code": "EntryNotFound"}, b""

    def _model(self, name: str, rest: list[str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        if rest[:1] == ["preupload"]:
            files = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in json.loads(body)["files"]
            ]
            return _json({"files": files})
        if rest[:1] == ["commit"]:
            for line in body.splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    self.uploaded[name][entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])
            return _json({"commitUrl": f"{self.address}/{name}/commit/{COMMIT}", "commitOid": COMMIT, "success": True})
        folder = self.models.get(name)
        if folder is None and name not in self.uploaded:
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        if rest[:1] == ["revision"] and rest[1] not in ("main", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        files = [] if folder is None else sorted(folder.iterdir())
        if rest[:1] == ["tree"]:
            return _json(
                [
                    {
                        "type": "file",
                        "path": file.name,
                        "size": file.stat().st_size,
                        "oid": hashlib.sha1(file.read_bytes()).hexdigest(),
                    }
                    for file in files
                ]
            )
        siblings = [{"rfilename": file.name} for file in files]
        return _json({"id": name, "sha": COMMIT, "siblings": siblings, "private": False, "tags": []})


def _json(value: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


@contextmanager
def serve(hub: Hub) -> Iterator[str]:
    """Serve a hub, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, data = hub.answer(self.command, self.path, body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_HEAD = do_POST = _answer

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub.address
    finally:
        server.shutdown()
        server.server_close()
