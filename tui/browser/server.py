"""Serve the application to browsers through textual-serve: its server, behind our checks and with our page.

Nothing is fetched from elsewhere: page, script and fonts come from this server, and the page's policy forbids all
others."""

import asyncio
import hmac
import html
import ipaddress
import logging
import os
import secrets
import shlex
import socket
import string
import sys
from collections.abc import Sequence
from functools import partial

from aiohttp import web
from aiohttp.typedefs import Handler
from textual_serve.server import Server

from tui.browser import LOOPBACK, SERVED_VARIABLE

# Who may talk to the server: whoever has the token, under a name of this machine, from the server's own pages.

TOKEN_MISSING = "Open the address that `memoranda serve` printed, with its token.\n"
UNKNOWN_HOST = "This address is none that `memoranda serve` listens on: use the one that it printed.\n"
FOREIGN_PAGE = "Another page asked for this; only the server's own may.\n"


class Access:
    """Checks requests to a server that listens on `address`, an address or a name of this machine.

    A page of another site can send a browser here, also under a name of its own that leads to this machine (DNS
    rebinding); so the name in `Host` must be known, `Origin` must be the server's, and the token comes as a cookie that
    browsers send for the server's own pages alone."""

    def __init__(self, address: str, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        # cookies are shared by all ports of a host
        self.cookie = f"memoranda_{port}"
        self._any = address in ("0.0.0.0", "::")
        self._names = {address.lower(), *LOOPBACK}
        if not is_loopback(address):
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def refuse(self, host: str, origin: str | None, websocket: bool) -> str | None:
        """Return why a request is refused, whatever token it has; None if it is not. `host` and `origin` are its
        headers."""
        name = _host_name(host)
        if not (name in self._names or (self._any and _is_address(name))):
            return UNKNOWN_HOST
        if origin is None:
            return FOREIGN_PAGE if websocket else None
        return None if origin == f"http://{host}" else FOREIGN_PAGE

    def has_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def is_loopback(address: str) -> bool:
    """Tell whether an address is reached from this machine alone."""
    return address in LOOPBACK or (_is_address(address) and ipaddress.ip_address(address).is_loopback)


def _host_name(host: str) -> str:
    """Return the name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    """Tell whether a name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


ASSETS = {"page.css": "text/css", "page.js": "text/javascript"}
ASSET_FOLDER = os.path.dirname(__file__)
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self' {websocket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
RESPONSE_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


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
        for tab in self._tabs:
            tab.cancel()
        await asyncio.gather(*self._tabs, return_exceptions=True)

    def run(self) -> None:
        """Serve until ^C or SIGTERM."""
        os.environ[SERVED_VARIABLE] = "1"
        self.initialize_logging()
        web.run_app(self._make_app(), sock=self._listening, access_log=None, print=None, shutdown_timeout=5)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._check_request)
        for name, kind in ASSETS.items():
            app.router.add_get(f"/{name}", partial(_send_asset, name, kind))
        return app

    @web.middleware
    async def _check_request(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse who may not talk to this server; take the token of an address into a cookie."""
        websocket = request.path == "/ws"
        reason = self.access.refuse(request.host, request.headers.get("Origin"), websocket)
        if reason is not None:
            return _refuse(reason)
        if "token" in request.query and request.path == "/":
            return self._enter(request)
        if not self.access.has_token(request.cookies.get(self.access.cookie, "")):
            return _refuse(TOKEN_MISSING)
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
            return _refuse(TOKEN_MISSING)
        answer = web.Response(status=303, headers={"Location": "/", **RESPONSE_HEADERS})
        answer.set_cookie(self.access.cookie, self.access.token, httponly=True, samesite="Strict", path="/")
        return answer

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """The page: textual-serve's own asks another site for its font."""
        websocket = f"ws://{request.host}"
        size = request.query.get("fontsize", "")
        filled = string.Template(_read_asset("page.html")).substitute(
            title=html.escape(self.title),
            websocket=html.escape(f"{websocket}/ws"),
            font=size if size.isascii() and size.isdigit() and 6 <= int(size) <= 48 else "16",
        )
        policy = {"Content-Security-Policy": CONTENT_POLICY.format(websocket=websocket)}
        return web.Response(text=filled, content_type="text/html", headers=RESPONSE_HEADERS | policy)


def _refuse(why: str) -> web.Response:
    return web.Response(status=403, text=why, headers=RESPONSE_HEADERS)


async def _send_asset(name: str, kind: str, request: web.Request) -> web.StreamResponse:
    """Send a file of the page."""
    return web.Response(text=_read_asset(name), content_type=kind, headers=RESPONSE_HEADERS)


def _read_asset(name: str) -> str:
    """Return the text of a file of the page."""
    with open(os.path.join(ASSET_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def application_command(*options: str) -> list[str]:
    """Return the command that starts the application of a tab."""
    return [sys.executable, "-P", "-m", "tui.main", *options]
