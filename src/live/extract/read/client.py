# The Python client: its WebSocket loop run against a connection that is a list of frames.


class Wire:
    """A connection that hands out what it is fed, and knows when the client asked for the next frame."""

    def __init__(self):
        self.urls, self.keywords, self.sent = [], {}, []
        self.frames, self.changed, self.asked = [], threading.Condition(), 0
        self.over = False
        self.fail = None

    def connect(self, url, **keywords):
        self.urls.append(url)
        self.keywords = keywords
        return self

    async def __aenter__(self):
        if self.over or self.fail:
            raise self.fail or OSError("no more connections")
        return self

    async def __aexit__(self, *_):
        return False

    async def send(self, text):
        self.sent.append(text)

    def __aiter__(self):
        return self

    async def __anext__(self):
        with self.changed:
            self.asked += 1
            self.changed.notify_all()
        while not self.frames:
            if self.over:
                raise StopAsyncIteration
            await asyncio.sleep(0.002)
        return self.frames.pop(0)

    async def recv(self, *_, **__):
        return await self.__anext__()

    def wait_asked(self, times):
        with self.changed:
            need(self.changed.wait_for(lambda: self.asked >= times, 10), "the client does not ask for frames")

    def feed(self, frame):
        """Gives the client one frame and returns when it is done with it."""
        times = self.asked
        self.frames.append(frame)
        self.wait_asked(times + 1)


class Heard(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, str(record.msg)))

    def take(self):
        lines, self.lines = self.lines, []
        return [line for line in lines if line[0] in ("WARNING", "ERROR", "CRITICAL")]


class Instead:
    """A module with some of its names replaced."""

    def __init__(self, module, **names):
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


class Session:
    """The client of the package, connected to a `Wire`."""

    KEY = "a+b c"

    def __init__(self):
        self.module = importlib.import_module("openhands.sdk.conversation.impl.remote_conversation")
        self.wire, self.heard, self.got = Wire(), Heard(), []
        self.module.websockets = Instead(self.module.websockets, connect=self.wire.connect)
        self.fails = False
        made = self.module.WebSocketCallbackClient
        known = {"host": "http://skewlab.invalid", "conversation_id": "c-1", "api_key": self.KEY}
        names = inspect.signature(made.__init__).parameters
        calls = {name: self.hears(name) for name in names if "callback" in name}
        self.client = made(**{k: v for k, v in known.items() if k in names}, **calls)
        logging.getLogger("openhands").addHandler(self.heard)
        self.module.logger.addHandler(self.heard)

    def hears(self, name):
        def callback(event, *_):
            self.got.append((name, type(event).__name__))
            if self.fails:
                raise RuntimeError("callback")

        return callback

    def __enter__(self):
        self.client.start()
        return self

    def __exit__(self, *_):
        self.wire.over = True
        self.client.stop()
        logging.getLogger("openhands").removeHandler(self.heard)
        self.module.logger.removeHandler(self.heard)
        self.module.websockets = self.module.websockets._module

    def put(self, frame):
        """What came of one frame: the callbacks that were called, and the lines that were logged."""
        self.got.clear()
        self.heard.take()
        self.wire.feed(frame)
        return list(self.got), [list(line) for line in dict.fromkeys(self.heard.take())]


def state_frame():
    from openhands.sdk.event.conversation_state import ConversationStateUpdateEvent

    return ConversationStateUpdateEvent(key="execution_status", value="idle").model_dump(mode="json", exclude_none=True)


def read_client():
    got = {}
    with Session() as session:
        session.wire.wait_asked(1)
        got["ready_when_open"] = session.client.wait_until_ready(timeout=0.3)
        state = state_frame()
        cls = delta_class()
        kind = "StreamingDeltaEvent"
        frame = {"id": "d-1", "timestamp": "2026-01-01T00:00:00", "source": "agent", "content": "a", "kind": kind}
        got["delta"] = session.put(json.dumps(frame))
        got["ready_after_delta"] = session.client.wait_until_ready(timeout=0.3)
        got["state"] = session.put(json.dumps(state))
        got["ready_after_state"] = session.client.wait_until_ready(timeout=2)
        got["binary"] = session.put(json.dumps(state).encode())
        got["binary_with_mark"] = session.put(b"\xef\xbb\xbf" + json.dumps(state).encode())
        got["no_json"] = session.put("no json{")
        got["nan"] = session.put(json.dumps({**state, "value": float("nan")}))
        got["unknown_kind"] = session.put(json.dumps({**state, "kind": "NoSuchEvent"}))
        got["extra_field"] = session.put(json.dumps({**state, "skewlab_extra": 1}))
        session.fails = True
        got["handler"] = session.put(json.dumps(state))
        got["url"], got["keywords"], got["sent"] = session.wire.urls[0], session.wire.keywords, session.wire.sent
    return got


@fact("client.model", "asked: the SDK alone imported, pydantic's own view of every class below Event")
def _():
    importlib.import_module("openhands.sdk")
    found = event_model()
    found["plain_input_is_reported"] = plain_input_is_reported()
    return found


@fact("client.delta", "asked: the delta's class, its bases and fields")
def _():
    return delta()


SEEN = {}


@fact("client.loop", "run: WebSocketCallbackClient against a connection that is a list of frames")
def _():
    from urllib.parse import parse_qsl, urlsplit

    SEEN.update(read_client())
    url, sent = urlsplit(SEEN["url"]), [json.loads(text) for text in SEEN["sent"]]
    query = dict(parse_qsl(url.query))
    auth = "none"
    if "session_api_key" in query:
        auth = "query-encoded" if query["session_api_key"] == Session.KEY else "query"
    elif sent and sent[0].get("session_api_key") == Session.KEY:
        auth = "first-frame"
    called = lambda name: bool(SEEN[name][0])
    ready = "open" if SEEN["ready_when_open"] else "state-update" if SEEN["ready_after_state"] and not SEEN["ready_after_delta"] else "other"
    return {
        "path": url.path.replace("c-1", "{conversation_id}"),
        "auth": auth,
        "first_frame": {"type": sent[0].get("type"), "keys": sorted(sent[0])} if sent else None,
        "resend_mode": query.get("resend_mode"),
        "after_seq": query.get("after_seq"),
        "ready": ready,
        "reads_binary": called("binary") and called("binary_with_mark"),
        "reads_nan": called("nan"),
        "refuses_unknown_kinds": not called("unknown_kind"),
        "refuses_extra_fields": not called("extra_field"),
        "delta_is_heard": sorted({name for name, _ in SEEN["delta"][0]}),
        "delta_is_heard_as": sorted({kind for _, kind in SEEN["delta"][0]}),
        "logs": {name: SEEN[name][1] for name in ("no_json", "unknown_kind", "extra_field", "handler", "delta")},
    }


@fact("client.max_frame_bytes", "asked: what connect() is given, else the default of the installed websockets")
def _():
    need(SEEN, "the client did not run")
    import websockets

    default = inspect.signature(websockets.connect.__init__).parameters["max_size"].default
    return SEEN["keywords"].get("max_size", default) or 0


@fact("client.reconnect", "run: WebSocketCallbackClient with connections that fail, and one closed with each code")
def _():
    from websockets.exceptions import ConnectionClosedError
    from websockets.frames import Close

    session, delays = Session(), []
    client, module = session.client, session.module
    stop_after = [8]

    async def sleep(delay):
        delays.append(delay)
        if len(delays) >= stop_after[0]:
            client._stop.set()

    if hasattr(client, "_sleep_before_retry"):
        client._sleep_before_retry = sleep
    else:
        module.asyncio = Instead(asyncio, sleep=sleep)

    def tries(failure, times):
        client._stop.clear()
        delays.clear()
        stop_after[0], session.wire.fail = times, failure
        asyncio.run(asyncio.wait_for(client._client_loop(), 10))
        return list(delays)

    try:
        waits = tries(OSError("refused"), 8)
        codes = (1000, 1001, 1006, 1008, 1009, 1011, 1012, 1013, 4001, 4003, 4004)
        fatal = [code for code in codes if not tries(ConnectionClosedError(Close(code, ""), None), 1)]
    finally:
        module.websockets, module.asyncio = module.websockets._module, asyncio
    return {"delays_s": waits, "fatal_codes": fatal, "codes_tried": list(codes)}


@fact("client.ready_timeout_s", "read in remote_conversation.py: what wait_until_ready() is given, the environment left aside")
def _():
    module = importlib.import_module("openhands.sdk.conversation.impl.remote_conversation")
    for function in ast.walk(tree(module)):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = [k.value for n in ast.walk(function) if isinstance(n, ast.Call) and called(n) == "wait_until_ready" for k in n.keywords]
        for value in given:
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and isinstance(value, ast.Name) and getattr(node.targets[0], "id", None) == value.id:
                    value = node.value
            numbers = [n.value for n in ast.walk(value) if isinstance(n, ast.Constant) and str(n.value).replace(".", "", 1).isdigit()]
            need(len(numbers) == 1, f"{len(numbers)} numbers where one time limit should be")
            return float(numbers[0])
    raise LookupError("nothing waits until the client is ready")


@fact("client.constructor", "asked: the signature of RemoteConversation")
def _():
    from openhands.sdk.conversation.impl.remote_conversation import RemoteConversation

    parameters = inspect.signature(RemoteConversation.__init__).parameters.values()
    rest = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    return {"parameters": [p.name for p in parameters if p.name != "self"], "takes_anything": rest}
