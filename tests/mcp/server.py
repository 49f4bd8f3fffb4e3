"""A server for the tests of crates/mcp, made with the Python SDK.

    python3 server.py                  over its pipes
    python3 server.py --http           over HTTP on a free port of this machine; prints the address on its first line
    python3 server.py --http --key K   the same, for requests that bear K only
    python3 server.py --http --port N  the same on that port
"""

import argparse
import os
import socket
import struct
import zlib

from mcp.server.mcpserver import Image, MCPServer
from pydantic import BaseModel


class Place(BaseModel):
    name: str


class Route(BaseModel):
    start: Place
    stops: list[Place]


class Day(BaseModel):
    day: int
    what: str


class Plan(BaseModel):
    days: list[Day]


server = MCPServer("bosun-test")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


@server.tool()
def route(route: Route) -> str:
    """Names the places of a route in their order."""
    return " > ".join(place.name for place in [route.start, *route.stops])


@server.tool()
def plan(days: int) -> Plan:
    """A plan for some days."""
    return Plan(days=[Day(day=day, what="rest") for day in range(1, days + 1)])


@server.tool()
def picture() -> Image:
    """A picture of one pixel."""
    return Image(data=png(), format="png")


@server.tool()
def fail(how: str = "softly") -> str:
    """Fails, softly or hard."""
    if how == "hard":
        os._exit(9)
    raise ValueError("nothing is there")


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


class Guarded:
    """Answers 401 to every request without the key."""

    def __init__(self, app, key):
        self.app, self.key = app, key

    async def __call__(self, scope, receive, send):
        bears = dict(scope.get("headers", [])).get(b"authorization") == f"Bearer {self.key}".encode()
        if scope["type"] == "http" and not bears:
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self.app(scope, receive, send)


def over_http(key: str | None, port: int) -> None:
    import uvicorn

    app = server.streamable_http_app()
    if key:
        app = Guarded(app, key)
    # Bound before the address is told, so that nobody comes too early.
    listener = socket.socket()
    # Connections of the server that was there before may still be ending.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).run(sockets=[listener])


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--http", action="store_true")
    arguments.add_argument("--key")
    arguments.add_argument("--port", type=int, default=0)
    chosen = arguments.parse_args()
    over_http(chosen.key, chosen.port) if chosen.http else server.run("stdio")
