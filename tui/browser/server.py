"""Serve the application to browsers through textual-serve: its server, behind our checks and with our page.

Nothing is fetched from elsewhere: page, script and fonts come from this server, and the page's policy forbids all
others."""

import asyncio
import html
import logging
import os
import shlex
import socket
import string
import sys
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from textual_serve.server import Server

from tui.browser import SERVED
from tui.browser.access import WITHOUT_TOKEN, Access

ASSETS = {"page.css": "text/css", "page.js": "text/javascript"}
HERE = os.path.dirname(__file__)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self' {websocket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class BrowserServer(Server):
    """Serves `words`, a command that is started for each tab, on a socket that listens already."""

    def __init__(self, words: Sequence[str], listening: socket.socket, access: Access, title: str) -> None:
        super().__init__(shlex.join(words), title=title)
        self.access = access
        self._listening = listening
        self._tabs: set[asyncio.Task[object]] = set()

    def initialize_logging(self) -> None:
        """Say what fails, and nothing else: a request's address can have the token in it."""
        logging.basicConfig(level=logging.ERROR, format="memoranda: %(message)s")

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the command has said where to look."""

    async def on_shutdown(self, app: web.Application) -> None:
        """End every tab's application, as when its tab is closed."""
        tabs = list(self._tabs)
        for tab in tabs:
            tab.cancel()
        await asyncio.gather(*tabs, return_exceptions=True)

    def run(self) -> None:
        """Serve until ^C or SIGTERM."""
        os.environ[SERVED] = "1"
        self.initialize_logging()
        web.run_app(self._make_app(), sock=self._listening, access_log=None, print=None, shutdown_timeout=5)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._checked)
        for name, kind in ASSETS.items():
            app.router.add_get(f"/{name}", _asset(name, kind))
        return app

    @web.middleware
    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse who may not talk to this server; take the token of an address into a cookie."""
        websocket = request.path == "/ws"
        reason = self.access.refuse(request.host, request.headers.get("Origin"), websocket)
        if reason is not None:
            return web.Response(status=403, text=reason, headers=HEADERS)
        if "token" in request.query and request.path == "/":
            return self._enter(request)
        if not self.access.has_token(request.cookies.get(self.access.cookie, "")):
            return web.Response(status=403, text=WITHOUT_TOKEN, headers=HEADERS)
        if not websocket:
            return await handler(request)
        task = asyncio.current_task()
        assert task is not None
        self._tabs.add(task)
        try:
            return await handler(request)
        finally:
            self._tabs.discard(task)

    def _enter(self, request: web.Request) -> web.Response:
        if not self.access.has_token(request.query["token"]):
            return web.Response(status=403, text=WITHOUT_TOKEN, headers=HEADERS)
        answer = web.Response(status=303, headers={"Location": "/", **HEADERS})
        answer.set_cookie(self.access.cookie, self.access.token, httponly=True, samesite="Strict", path="/")
        return answer

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """The page: textual-serve's own asks another site for its font."""
        websocket = f"ws://{request.host}"
        size = request.query.get("fontsize", "")
        filled = string.Template(_read("page.html")).substitute(
            title=html.escape(self.title),
            websocket=html.escape(f"{websocket}/ws"),
            font=size if size.isascii() and size.isdigit() and 6 <= int(size) <= 48 else "16",
        )
        policy = {"Content-Security-Policy": POLICY.format(websocket=websocket)}
        return web.Response(text=filled, content_type="text/html", headers=HEADERS | policy)


def _asset(name: str, kind: str) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(text=_read(name), content_type=kind, headers=HEADERS)

    return answer


def _read(name: str) -> str:
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def application(*options: str) -> list[str]:
    """The command that a tab's application is started with."""
    return [sys.executable, "-P", "-m", "tui.main", *options]
