"""The server that shows the application in a browser, asked over a real connection; nothing is started for a tab."""

import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser

import pytest
from aiohttp import ClientSession, WSServerHandshakeError, web

from tui.browser.server import FOREIGN_PAGE, TOKEN_MISSING, UNKNOWN_HOST, Access, BrowserServer


@asynccontextmanager
async def serving(command: str = "true") -> AsyncIterator[tuple[ClientSession, Access, str]]:
    """(a browser without cookies, who may talk to the server, its address)."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    access = Access("127.0.0.1", port)
    server = BrowserServer([command], listening, access, "a <b> & c")
    runner = web.AppRunner(await server._make_app(), shutdown_timeout=1)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    try:
        async with ClientSession() as browser:
            yield browser, access, f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


PATHS = ("/", "/ws", "/page.css", "/page.js", "/static/js/textual.js", "/static/", "/download/x", "/nothing")


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_is_served_without_the_token(path: str) -> None:
    async with serving() as (browser, access, address):
        for cookies in ({}, {access.cookie: ""}, {access.cookie: "wrong"}, {"memoranda": access.token}):
            async with browser.get(f"{address}{path}", cookies=cookies, headers={"Origin": address}) as answer:
                assert (answer.status, await answer.text()) == (403, TOKEN_MISSING)


async def test_the_token_of_the_address_becomes_a_cookie() -> None:
    """Which scripts cannot read and no other site's page sends; the address in the browser has it no more."""
    async with serving() as (browser, access, address):
        async with browser.get(f"{address}/?token={access.token}", allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            cookie = answer.cookies[access.cookie]
            assert cookie.value == access.token and cookie["httponly"] and cookie["samesite"] == "Strict"
        async with browser.get(f"{address}/?token=wrong", allow_redirects=False) as answer:
            assert answer.status == 403 and not answer.cookies


@pytest.mark.parametrize("path", ["/", "/?token=TOKEN", "/ws", "/page.css", "/static/js/textual.js"])
@pytest.mark.parametrize(
    ("header", "value", "reason"),
    [
        ("Host", "evil.example", UNKNOWN_HOST),
        ("Origin", "http://evil.example", FOREIGN_PAGE),
        ("Origin", "null", FOREIGN_PAGE),
    ],
)
async def test_another_name_and_another_origin_are_refused_with_the_token(path, header, value, reason) -> None:
    async with serving() as (browser, access, address):
        asked = f"{address}{path.replace('TOKEN', access.token)}"
        cookies = {access.cookie: access.token}
        async with browser.get(asked, cookies=cookies, headers={header: value}, allow_redirects=False) as answer:
            assert (answer.status, await answer.text()) == (403, reason) and not answer.cookies


async def test_a_socket_is_opened_for_the_servers_own_page_alone() -> None:
    async with serving() as (browser, access, address):
        cookies = {"Cookie": f"{access.cookie}={access.token}"}
        for headers in ({}, {"Origin": address}, cookies, {**cookies, "Origin": "http://evil.example"}):
            with pytest.raises(WSServerHandshakeError) as refused:
                await browser.ws_connect(f"{address}/ws", headers=headers)
            assert refused.value.status == 403
        async with browser.ws_connect(f"{address}/ws", headers={**cookies, "Origin": address}) as websocket:
            assert not websocket.closed


class Sources(HTMLParser):
    """Every address that a page names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href")]


async def test_the_page_asks_nobody_else_for_anything() -> None:
    """Each address is the server's own and answers; the policy forbids scripts, fonts and connections of others."""
    async with serving() as (browser, access, address):
        browser.cookie_jar.update_cookies({access.cookie: access.token})
        cookies = {"Cookie": f"{access.cookie}={access.token}"}
        async with browser.get(f"{address}/", headers=cookies) as answer:
            text, policy = await answer.text(), answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
        assert re.findall(r"https?://[^ ;]*", policy) == [] and "<title>a &lt;b&gt; &amp; c</title>" in text
        sources = Sources()
        sources.feed(text)
        assert len(sources.found) >= 4
        for source in sources.found:
            if source != "data:,":
                async with browser.get(f"{address}{source}", headers=cookies) as answer:
                    assert answer.status == 200, source
        assert "http" not in text.replace("ws://127.0.0.1", "")


@pytest.mark.parametrize(
    ("asked", "size"), [("", "16"), ("20", "20"), ("900", "16"), ('"><script>', "16"), ("x", "16")]
)
async def test_the_size_of_letters_can_be_asked_for(asked: str, size: str) -> None:
    async with serving() as (browser, access, address):
        cookies = {"Cookie": f"{access.cookie}={access.token}"}
        async with browser.get(f"{address}/", params={"fontsize": asked}, headers=cookies) as answer:
            assert f'data-font-size="{size}"' in await answer.text()
