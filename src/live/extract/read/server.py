# The server: its bus, sockets and clocks run with parties made up here, and its application asked for routes.

SERVER = "openhands.agent_server."


class Socket:
    """A WebSocket to the server's code: what it reads is given, what it writes is kept."""

    def __init__(self, reads=(), state=None):
        from starlette.websockets import WebSocketState

        self.application_state = self.client_state = WebSocketState.CONNECTED
        self.headers, self.query_params, self.cookies = {}, {}, {}
        self.app = types.SimpleNamespace(state=state or types.SimpleNamespace())
        self.reads, self.wrote, self.closed = list(reads), [], []

    async def accept(self, *_, **__):
        pass

    async def close(self, code=1000, reason=None):
        self.closed.append([code, reason or ""])

    async def receive_text(self):
        from starlette.websockets import WebSocketDisconnect

        if not self.reads:
            raise WebSocketDisconnect(1000)
        return self.reads.pop(0)

    async def receive_json(self, *_, **__):
        return json.loads(await self.receive_text())

    async def send_json(self, value, *_, **__):
        self.wrote.append(value)

    async def send_text(self, text):
        self.wrote.append(json.loads(text))


def state_event(**more):
    from openhands.sdk.event.conversation_state import ConversationStateUpdateEvent

    return ConversationStateUpdateEvent(key="execution_status", value="idle", **more)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


async def settle():
    for _ in range(50):
        await asyncio.sleep(0)


def subscriber_classes():
    from openhands.agent_server.pub_sub import Subscriber

    for name in ("sockets", "session_socket", "conversation_service", "event_service", "telemetry.subscriber", "telemetry"):
        module_of(SERVER + name)
    found, waiting = {}, list(Subscriber.__subclasses__())
    while waiting:
        cls = waiting.pop()
        waiting.extend(cls.__subclasses__())
        if cls.__module__.startswith(SERVER):
            found[cls.__name__] = cls
    return dict(sorted(found.items()))


def carried(cls):
    """The names of the classes that a generic is written for: `PubSub[Event]` carries `Event`."""
    found = []
    for base in getattr(cls, "__orig_bases__", None) or (cls,):
        for inside in typing.get_args(base):
            members = typing.get_args(inside) or (inside,)
            found.extend(getattr(member, "__name__", str(member)) for member in members)
    return found


def flags():
    """The switches that a subscriber class has: those that decide what a bus gives it."""
    from openhands.agent_server.pub_sub import Subscriber

    return [name for name, value in vars(Subscriber).items() if isinstance(value, bool)]


def double(**switches):
    """A subscriber that keeps what it is given."""
    from openhands.agent_server.pub_sub import Subscriber

    class Double(Subscriber):
        def __init__(self):
            self.got = []

        async def __call__(self, event):
            self.got.append(event)

    for name, value in switches.items():
        setattr(Double, name, value)
    return Double()


def buses():
    from openhands.agent_server.event_service import EventService
    from openhands.agent_server.pub_sub import PubSub

    found = []
    hints = typing.get_type_hints(EventService, vars(importlib.import_module(SERVER + "event_service")))
    for name, field in EventService.__dataclass_fields__.items():
        if typing.get_origin(hints.get(name)) is PubSub or hints.get(name) is PubSub:
            bus = field.default_factory()
            found.append({"name": name, "carries": carried(hints[name]), "cap": getattr(bus, "max_subscribers", None) or 0})
    need(found, "EventService has no bus")
    return found


fact("server.buses", "asked: the fields of EventService that are a PubSub, what they carry, and how many subscribers they hold")(buses)


@fact("server.delta", "asked: the delta's class, its bases and fields")
def _():
    found = delta()
    if found:
        names = [n for n in ast.walk(tree(importlib.import_module(SERVER + "event_service"))) if isinstance(n, ast.Call)]
        found["is_made"] = any(called(node) == delta_class().__name__ for node in names)
    return found


@fact("server.filter", "run: a PubSub with a plain subscriber, and with one that has each switch set")
def _():
    from openhands.agent_server.pub_sub import PubSub

    need(delta_class(), "there is no delta")
    plain, switched = double(), {name: double(**{name: True}) for name in flags()}

    async def publish():
        bus = PubSub()
        for subscriber in (plain, *switched.values()):
            bus.subscribe(subscriber)
        await bus(delta_class()(content="a"))

    run(publish())
    return {"plain_gets_deltas": bool(plain.got), "switches": {name: bool(s.got) for name, s in switched.items()}}


@fact("server.subscribers", "asked: the subclasses of Subscriber, the switches they set, and what they are written for")
def _():
    return [
        {"name": name, "module": cls.__module__.removeprefix(SERVER), "carries": carried(cls), "set": [f for f in flags() if getattr(cls, f)]}
        for name, cls in subscriber_classes().items()
    ]


@fact("server.fan_out", "run: a PubSub whose first subscriber waits; is the second one called?")
def _():
    from openhands.agent_server.pub_sub import PubSub

    async def publish():
        gate, first, second = asyncio.Event(), double(), double()

        async def wait(event):
            await gate.wait()

        type(first).__call__ = lambda self, event: wait(event)
        bus = PubSub()
        bus.subscribe(first)
        bus.subscribe(second)
        task = asyncio.ensure_future(bus(state_event()))
        await settle()
        reached = bool(second.got)
        gate.set()
        await task
        need(second.got, "the second subscriber is never called")
        return reached

    return "gather" if run(publish()) else "sequential"


def socket_frames(event, sockets=1):
    """What the server writes for an event on legacy sockets, and how often the event was dumped for it."""
    from openhands.agent_server.pub_sub import PubSub

    cls, made = type(event), []
    kept = {name: getattr(cls, name) for name in ("model_dump", "model_dump_json")}

    def counted(name):
        def dump(self, *args, **keywords):
            made.append(name)
            return kept[name](self, *args, **keywords)

        return dump

    async def publish():
        bus, ends = PubSub(), [Socket() for _ in range(sockets)]
        for end in ends:
            bus.subscribe(subscriber_classes()["_WebSocketSubscriber"](websocket=end))
        await bus(event)
        return [frame for end in ends for frame in end.wrote]

    for name in kept:
        setattr(cls, name, counted(name))
    try:
        frames = run(publish())
    finally:
        for name in kept:
            delattr(cls, name)
    return frames, made


@fact("server.frames", "run: events published to legacy sockets, and the frames that these wrote")
def _():
    from openhands.sdk.event import Event, ObservationEvent

    known = "parent_id" in Event.model_fields
    parent = {"parent_id": "p-1"} if known else {}
    durable, _ = socket_frames(state_event(**parent))
    need(len(durable) == 1, "an event is no frame")
    found = {
        "parent_id": "sent" if "parent_id" in durable[0] else "stripped" if known else "unknown",
        "extended_content": "extended_content" in ObservationEvent.model_fields,
    }
    if delta_class():
        # The field without a value shows what becomes of nulls.
        frames, dumps = socket_frames(delta_class()(content="a"), sockets=2)
        found["dumps_for_two_sockets"] = len(dumps)
        found["deltas_for_two_sockets"] = len(frames)
        if frames:
            found["delta_keys"] = list(frames[0])
            found["nulls"] = "kept" if "reasoning_content" in frames[0] else "absent"
    return found


@fact("server.clock", "run: the subscriber behind the idle clocks with a state event and two deltas")
def _():
    module = importlib.import_module(SERVER + "conversation_service")
    kept, writes, touches = module.update_last_execution_time, [], []
    module.update_last_execution_time = lambda *_: writes.append(1)
    service = types.SimpleNamespace(touch=lambda: touches.append(1), stored=types.SimpleNamespace(updated_at=None))
    subscriber = subscriber_classes()["_EventSubscriber"](service=service)

    async def call():
        counts = []
        events = [state_event()] + ([delta_class()(content="a"), delta_class()(content="b")] if delta_class() else [])
        for event in events:
            await subscriber(event)
            counts.append([len(writes), len(touches)])
        return counts

    try:
        counts = run(call())
    finally:
        module.update_last_execution_time = kept
    return {"writes_and_touches": counts}


@fact("server.eviction", "asked: conversation_idle_ttl_seconds of Config")
def _():
    from openhands.agent_server.config import Config

    field = Config.model_fields.get("conversation_idle_ttl_seconds")
    return {"exists": field is not None, "after_s": field.default if field else None}


@fact("server.heartbeat_s", "run: EventService's stream heartbeat on a clock of ours; 0 where event_service.py calls no clock (read)")
def _():
    module = importlib.import_module(SERVER + "event_service")
    beat = getattr(module.EventService, "_signal_stream_activity", None)
    if beat is None:
        calls = [node for node in ast.walk(tree(module)) if isinstance(node, ast.Call) and called(node) == "update_last_execution_time"]
        need(not calls, "event_service.py writes the process clock in a way that is not known")
        return 0
    interval, now, writes = module.ACTIVITY_SIGNAL_INTERVAL, [0.0], []
    kept = module.update_last_execution_time, module.time
    module.update_last_execution_time = lambda *_: writes.append(now[0])
    module.time = Instead(kept[1], monotonic=lambda: now[0])
    service = types.SimpleNamespace(_last_stream_activity_signal=float("-inf"))
    try:
        for now[0] in (1000.0, 1000.0 + interval * 0.99, 1000.0 + interval * 1.01):
            beat(service)
    finally:
        module.update_last_execution_time, module.time = kept
    need(writes == [1000.0, 1000.0 + interval * 1.01], f"it beats at {writes}, not each {interval} s")
    return interval


@fact("server.snapshot_timeout_s", "asked: INITIAL_STATE_PUSH_TIMEOUT_SECONDS of event_service; 0 without one")
def _():
    return getattr(importlib.import_module(SERVER + "event_service"), "INITIAL_STATE_PUSH_TIMEOUT_SECONDS", 0)


@fact("server.auth_timeout_s", "asked: _FIRST_MESSAGE_AUTH_TIMEOUT_SECONDS of sockets")
def _():
    return importlib.import_module(SERVER + "sockets")._FIRST_MESSAGE_AUTH_TIMEOUT_SECONDS


@fact("server.auth_frame", "run: sockets._is_auth_control_message with an exact frame, and one with another key")
def _():
    check = getattr(importlib.import_module(SERVER + "sockets"), "_is_auth_control_message", None)
    if check is None:
        return "message"
    exact = {"type": "auth", "session_api_key": "k"}
    need(check(exact) and not check({"role": "user"}), "it knows no authentication frame")
    return "ignored" if check({**exact, "more": 1}) else "ignored-if-exact"


@fact("server.max_inbound_bytes", "asked: ws_max_size, as the server gives it to uvicorn (read in __main__.py), else uvicorn's default")
def _():
    import uvicorn

    main = pathlib.Path(importlib.import_module("openhands.agent_server").__file__).with_name("__main__.py")
    for node in ast.walk(ast.parse(main.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "ws_max_size":
            need(isinstance(node.value, ast.Constant), "ws_max_size is no number")
            return node.value.value
    return inspect.signature(uvicorn.Config.__init__).parameters["ws_max_size"].default


def socket_closes(keys, reads, service):
    """How the legacy socket closes on a client that says `reads`."""
    module = importlib.import_module(SERVER + "sockets")
    from openhands.agent_server.config import Config

    state = types.SimpleNamespace(config=Config(session_api_keys=keys))
    socket = Socket(reads, state)
    # Asked for at each request, or in older releases (1.22.0) a name of the module.
    name = "_get_conversation_service" if hasattr(module, "_get_conversation_service") else "conversation_service"
    kept = getattr(module, name)
    setattr(module, name, (lambda *_: service) if name.startswith("_get") else service)
    given = {"conversation_id": uuid.uuid4(), "websocket": socket, "session_api_key": None, "resend_mode": None}
    given |= {"after_timestamp": None, "resend_all": False}
    names = inspect.signature(module.events_socket).parameters
    try:
        run(module.events_socket(**{k: v for k, v in given.items() if k in names}))
    finally:
        setattr(module, name, kept)
    need(socket.closed, "it does not close")
    return socket.closed[0][0]


@fact("server.close", "run: the events socket with a wrong key, with no such conversation, and with a full bus")
def _():
    full_bus = getattr(importlib.import_module(SERVER + "pub_sub"), "MaxSubscribersError", None)

    async def nothing(*_):
        return None

    async def full(*_):
        raise full_bus("full")

    async def some(*_):
        return types.SimpleNamespace(subscribe_to_events=full)

    wrong = json.dumps({"type": "auth", "session_api_key": "wrong"})
    return {
        "unauthenticated": socket_closes(["k"], [wrong], None),
        "unknown_conversation": socket_closes([], [], types.SimpleNamespace(get_event_service=nothing)),
        # Before 1.22.1 a bus is never full.
        "try_again_later": socket_closes([], [], types.SimpleNamespace(get_event_service=some)) if full_bus else None,
    }


@fact("server.close_codes", "read in sockets.py and session_socket.py: numbers given to close()")
def _():
    found = set()
    for name in ("sockets", "session_socket"):
        module = module_of(SERVER + name)
        for node in ast.walk(tree(module)) if module else ():
            if isinstance(node, ast.Call) and "close" in (called(node) or ""):
                for keyword in node.keywords:
                    if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                        found.add((name, keyword.value.value))
    return [{"file": f"{name}.py", "code": code} for name, code in sorted(found)]


def word_line(name, info):
    return f"{name}{'' if info.is_required() else '?'}: {word(info.annotation, info.metadata)}"


@fact("server.session", "asked: the constants of session_protocol and session_socket, and the types of its frames")
def _():
    protocol, socket = module_of(SERVER + "session_protocol"), module_of(SERVER + "session_socket")
    if protocol is None or socket is None:
        return None
    frames = {}
    for cls in vars(protocol).values():
        if isinstance(cls, type) and issubclass(cls, BaseModel) and "type" in cls.model_fields and cls.__module__ == protocol.__name__:
            fields = [word_line(name, info) for name, info in cls.model_fields.items() if name != "type"]
            frames[cls.model_fields["type"].default] = fields
    return {
        "max_frame_bytes": protocol.MAX_FRAME_BYTES,
        "max_pending_bytes": protocol.MAX_PENDING_BYTES,
        "replay_page": socket.REPLAY_PAGE_SIZE,
        "frames": frames,
    }
