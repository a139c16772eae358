"""The lab's web server: a handful of addresses, all on this computer unless told otherwise. It runs no code but listings.

What a browser sends is a state (`state.py`), checked before anything is done with it; answers are JSON, and pages of runs that live in a
sandbox of the browser: no name or text of a listing can act on the lab. Only requests with a JSON body are answered, which
a page of another site cannot send, and only under the names that the server was started with.
"""

import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from isa.errors import UserError
from sim.gpus.loader import load
from sim.lab import export, knobs, notebook
from sim.lab.answers import described
from sim.lab.exercises import Exercise
from sim.lab.kept import Answers, Pages
from sim.lab.state import State, machine, read
from sim.lab.workers import Known, Limits, OvertakenError, Pool
from sim.report.view.data import causes
from sim.report.view.page import frame

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

MOST_BODY = 200_000  # bytes of a request
MOST_GUESS = 1e300  # of an answer: whole numbers of JSON have no end
MOST_CYCLE = 1 << 53  # whole numbers of a browser
ASSETS = {
    "lab.css": "text/css",
    **{
        f"{name}.js": "text/javascript"
        for name in ("editor", "knobs", "shared", "registers", "drawing", "exercise", "permalink", "saves", "lab")
    },
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
SANDBOX = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'"
)


class Setting(NamedTuple):
    """What the server was started with. gpus: name -> preset or file, those that a page may name. hosts: names it answers to."""

    first: State
    gpus: dict[str, str]
    exercises: dict[str, Exercise]
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    limits: Limits = Limits()


class Lab:
    """What answers requests."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.pages = setting, Pages()
        self.answers = Answers(self.pages)
        self.opcodes: dict[str, Any] = {}  # of each GPU that was chosen
        self.pool: Pool | None = None

    async def start(self, _: dict[str, Any]) -> dict[str, Any]:
        """What the page begins with."""
        return {
            "state": self.setting.first.model_dump(),
            "gpus": {name: load(path).name for name, path in self.setting.gpus.items()},
            "exercises": [one.shown(name) for name, one in self.setting.exercises.items()],
            "causes": causes(),
        }

    async def knobs(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The sliders of a GPU, and its opcodes."""
        chosen = read({"listing": "", "machines": [{"gpu": asked.get("gpu")}]}).machines[0]
        gpu = machine(chosen, self.setting.gpus)
        if chosen.gpu not in self.opcodes:
            self.opcodes[chosen.gpu] = (await self._ask(("opcodes", State(listing="", machines=[chosen])), asked))["result"]
        return {"launch": knobs.launch(gpu), "machine": knobs.machine(gpu), "name": gpu.name, "opcodes": self.opcodes[chosen.gpu]}

    async def run(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Simulate a state; the page of the run is kept under a name."""
        return await self._kept("run", asked)

    async def page(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Keep the page that `simtlab view` writes, under a name."""
        return await self._kept("page", asked)

    async def _kept(self, job: str, asked: dict[str, Any]) -> dict[str, Any]:
        state = read(asked.get("state"))
        same = f"{job} {state.model_dump_json()}"
        answer = await self._ask((job, state), asked, lambda: self.answers.get(same))
        if "html" in answer.get("result", {}):
            answer["result"]["page"] = self.pages.keep(answer["result"].pop("html"))
            self.answers.put(same, answer)
        return answer

    async def registers(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What a warp's registers hold after each of its instructions."""
        block, warp = asked.get("block"), asked.get("warp")
        if not isinstance(block, int) or not isinstance(warp, int):
            raise UserError("block and warp are numbers")
        return await self._ask(("registers", read(asked.get("state")), block, warp), asked)

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Judge a guess: a number, or a drawing."""
        exercise, guess = self.setting.exercises.get(str(asked.get("exercise"))), asked.get("guess")
        if exercise is not None and exercise.draw is not None and "drawn" in asked:
            return {"result": exercise.draw.judged(_drawn(asked["drawn"], len(exercise.draw.warps)))}
        if exercise is None or isinstance(guess, bool) or not isinstance(guess, int | float) or abs(guess) > MOST_GUESS:
            raise UserError("no such exercise, or no number")
        return {"result": exercise.judged(guess)}

    async def export(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The files of a state."""
        state = read(asked.get("state"))
        machine(state.machines[0], self.setting.gpus)
        return {"result": export.files(state)}

    async def notebook(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The state as a notebook."""
        state = read(asked.get("state"))
        for one in state.machines:
            machine(one, self.setting.gpus)
        return {"result": {f"{state.name}.ipynb": notebook.notebook(state, _window(asked))}}

    async def pictures(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The timelines of a state as PNG."""
        sm = asked.get("sm", -1)
        if not isinstance(sm, int):
            raise UserError("sm is a number")
        return await self._ask(("pictures", read(asked.get("state")), _window(asked), sm), asked)

    async def _ask(self, job: tuple[Any, ...], asked: dict[str, Any], known: Known = lambda: None) -> dict[str, Any]:
        client, number = asked.get("client"), asked.get("number")
        assert self.pool is not None, "requests come after the start"
        name = f"{job[0]}:{client}"[:80] if isinstance(client, str) else secrets.token_hex(8)
        return await self.pool.ask(job, name, number if isinstance(number, int) else 0, known)


def application(setting: Setting) -> "Starlette":
    """Return the application; its workers live from its start to its end. Raises UserError without Starlette."""
    check_installed()
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.routing import Route

    lab = Lab(setting)

    @asynccontextmanager
    async def lifespan(application: Starlette) -> AsyncIterator[None]:
        lab.pool = application.state.pool = Pool(setting.gpus, setting.limits)
        try:
            yield
        finally:
            lab.pool.close()

    posts = {
        name: getattr(lab, name) for name in ("start", "knobs", "run", "page", "registers", "answer", "export", "notebook", "pictures")
    }
    routes = [
        Route("/", _asset("lab.html", "text/html")),
        *(Route(f"/assets/{name}", _asset(name, kind)) for name, kind in ASSETS.items()),
        Route("/frame", _frame()),
        Route("/page/{name}", _page(lab.pages)),
        *(Route(f"/{name}", _posted(method), methods=["POST"]) for name, method in posts.items()),
    ]
    return Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(setting.hosts))])


def _drawn(rows: Any, warps: int) -> list[list[int]]:
    """Return the cycles that a page marks, of each warp. Raises UserError."""
    if not isinstance(rows, list) or len(rows) != warps or any(not isinstance(row, list) for row in rows):
        raise UserError("drawn is a list of cycles for each warp")
    if any(type(cycle) is not int for row in rows for cycle in row):
        raise UserError("cycles are numbers")
    return rows


def _window(asked: dict[str, Any]) -> tuple[int, int]:
    """Return the first and last cycle that the page shows; those that `simtlab timeline` draws where it shows none. Raises UserError."""
    window = asked.get("window") or [0, 499]
    if not isinstance(window, list) or [type(cycle) for cycle in window] != [int, int] or not 0 <= window[0] <= window[1] < MOST_CYCLE:
        raise UserError("window is a first and a last cycle")
    return window[0], window[1]


def check_installed() -> None:
    """Raise UserError when what the lab needs is not installed."""
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UserError(f"the lab needs {error.name}, which is not installed", hint="pip install 'simtlab[lab]'") from None


def _asset(name: str, kind: str) -> "Callable[[Request], Awaitable[Response]]":
    from starlette.responses import Response

    text = (files("sim.lab") / "assets" / name).read_text(encoding="utf-8")

    async def send(_: "Request") -> Response:
        return Response(text, media_type=kind, headers=HEADERS)

    return send


def _frame() -> "Callable[[Request], Awaitable[Response]]":
    from starlette.responses import Response

    text = frame()

    async def send(_: "Request") -> Response:
        return Response(text, media_type="text/html", headers=HEADERS | {"Content-Security-Policy": SANDBOX})

    return send


def _page(pages: Pages) -> "Callable[[Request], Awaitable[Response]]":
    from starlette.responses import PlainTextResponse, Response

    async def send(request: "Request") -> Response:
        data = pages.kept.get(request.path_params["name"])
        if data is None:
            return PlainTextResponse("this page is no longer kept: change something in the lab", 404, HEADERS)
        saved = {"Content-Disposition": 'attachment; filename="timeline.html"'} if "save" in request.query_params else {}
        return Response(data, media_type="text/html", headers=HEADERS | {"Content-Security-Policy": SANDBOX} | saved)

    return send


def _posted(answer: Answer) -> "Callable[[Request], Awaitable[Response]]":
    from starlette.responses import JSONResponse, Response

    async def send(request: "Request") -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return JSONResponse({"error": {"text": "send JSON", "where": "", "places": []}}, 415, HEADERS)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BODY:
                return JSONResponse({"error": {"text": f"over {MOST_BODY:,} bytes", "where": "", "places": []}}, 413, HEADERS)
        try:
            asked = json.loads(body or b"{}")
            if not isinstance(asked, dict):
                raise UserError("send a JSON object")
            return JSONResponse(await answer(asked), headers=HEADERS)
        except OvertakenError:
            return JSONResponse({"overtaken": True}, headers=HEADERS)
        except UserError as error:
            return JSONResponse({"error": described(error)}, headers=HEADERS)
        except (ValueError, RecursionError):
            return JSONResponse({"error": {"text": "this is not JSON", "where": "", "places": []}}, 400, HEADERS)

    return send
