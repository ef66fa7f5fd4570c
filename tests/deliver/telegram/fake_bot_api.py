"""A Bot API server on loopback: real HTTP, updates to poll, and messages that were sent."""

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qsl

TOKEN = "900:test-token"
ME: dict[str, Any] = {"id": 900, "is_bot": True, "first_name": "Nikita", "username": "nikita_bot"}


class FakeBotApi:
    """What the server knows. `refusals` are answers to give before the next sends go through; who is in `refused` is always
    sent that one."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.confirmed = 0
        self.sent: list[dict[str, Any]] = []
        self.refusals: list[dict[str, Any]] = []
        self.refused: dict[int, dict[str, Any]] = {}
        self.base = ""

    def answer(self, token: str, method: str, fields: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if token != TOKEN:
            return 401, {"ok": False, "error_code": 401, "description": "Unauthorized"}
        match method:
            case "getMe":
                return 200, {"ok": True, "result": ME}
            case "getUpdates":
                self.confirmed = max(self.confirmed, fields.get("offset", 0))
                waiting = [update for update in self.updates if update["update_id"] >= self.confirmed]
                if not waiting and fields.get("timeout"):
                    time.sleep(0.05)  # Telegram waits as long as it is asked to.
                return 200, {"ok": True, "result": waiting[:100]}
            case "sendMessage":
                refusal = self.refused.get(fields["chat_id"]) or (self.refusals.pop(0) if self.refusals else None)
                if refusal is not None:
                    return refusal["error_code"], refusal
                return 200, {"ok": True, "result": self._message(fields)}
            case "deleteWebhook":
                return 200, {"ok": True, "result": True}
            case _:
                return 404, {"ok": False, "error_code": 404, "description": "Not Found"}

    def _message(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The message as Telegram returns it, with the chat that the last update from there showed."""
        chat = next(
            update["message"]["chat"]
            for update in reversed(self.updates)
            if update["message"]["chat"]["id"] == fields["chat_id"]
        )
        number = 1_000 + len(self.sent)
        message = {
            "message_id": number,
            "from": ME,
            "chat": chat,
            "date": 1_772_450_000,
            "text": fields["text"],
        }
        if "message_thread_id" in fields:
            message |= {"message_thread_id": fields["message_thread_id"], "is_topic_message": True}
        self.sent.append(message)
        return message


def _fields(body: bytes, kind: str | None) -> dict[str, Any]:
    """What a request says: JSON, or a form whose fields are JSON or bare words."""
    if "json" in (kind or ""):
        return cast("dict[str, Any]", json.loads(body or b"{}"))
    if "multipart" in (kind or ""):
        parts = message_from_bytes(b"Content-Type: " + (kind or "").encode() + b"\n\n" + body).walk()
        given = {str(part.get_param("name", header="content-disposition")): str(part.get_payload()) for part in parts
                 if not part.is_multipart()}  # fmt: skip
    else:
        given = dict(parse_qsl(body.decode()))
    return {name: int(value) if value.lstrip("-").isdigit() else value for name, value in given.items()}


@contextmanager
def serving() -> Generator[FakeBotApi, None, None]:
    api = FakeBotApi()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            _, bot, method = self.path.split("/")
            fields = _fields(body, self.headers["Content-Type"])
            status, answer = api.answer(bot.removeprefix("bot"), method, fields)
            written = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, format: str, *args: Any) -> None:
            """Tests stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
