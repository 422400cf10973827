"""Runs a released OpenHands package as if proposed stages were in it.

    python stages.py STAGES -m MODULE ARGS...
    python stages.py STAGES SCRIPT.py ARGS...

STAGES are letters, in order:
  A  the delta is no subclass of Event any more, with an id, a timestamp and a source of its own (#4696);
  B  the server publishes deltas on a second bus that only the legacy socket joins (#4700);
  C  the client looks at a frame's kind first and hands deltas to `delta_callbacks` (#4700).

Nothing on disk changes: the sources of the few modules concerned are read, changed as syntax trees and compiled when they
are imported. All of it is prepared before anything is imported, and refused as a whole (exit code 2) when one module does
not have the shape that was seen in 1.43.1 and 1.58.2.
"""

import ast
import copy
import importlib.machinery
import json
import os
import runpy
import sys
from importlib.metadata import PackageNotFoundError, version

SELF = "skewlab_stages"
KIND = "StreamingDeltaEvent"
DELTA = "openhands.sdk.event.streaming_delta"
SERVICE = "openhands.agent_server.event_service"
SOCKETS = "openhands.agent_server.sockets"
CLIENT = "openhands.sdk.conversation.impl.remote_conversation"


class Unrecognised(Exception):
    """The package does not have the shape that a stage was written for."""


# Reading and writing syntax trees.


def only(found, what):
    """The one thing that is looked for."""
    found = list(found)
    if len(found) != 1:
        raise Unrecognised(f"expected {what} exactly once, found it {len(found)} times")
    return found[0]


def named(body, kind, name):
    """The class or function of this name in a body."""
    word = "class" if kind is ast.ClassDef else "function"
    return only((n for n in body if isinstance(n, kind) and n.name == name), f"{word} {name}")


def said(node):
    """How a node reads, in one spelling."""
    return ast.unparse(node)


def lines(source):
    """Statements of ours."""
    return ast.parse(source).body


def bodies(node):
    """Every list of statements below a node."""
    for inner in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(inner, field, None)
            if isinstance(body, list):
                yield body


def place(node, text):
    """The list and the index of the one statement below a node that reads like this."""
    found = ((body, i) for body in bodies(node) for i, line in enumerate(body) if said(line) == text)
    return only(found, f"`{text}`")


def call(node, text):
    """The one call below a node that reads like this."""
    return only((n for n in ast.walk(node) if isinstance(n, ast.Call) and said(n) == text), f"`{text}`")


def after(node, text, source):
    """Adds statements behind the one that reads like this."""
    body, i = place(node, text)
    body[i + 1 : i + 1] = lines(source)


def begin(tree, source):
    """Adds statements behind the imports at the head of a module."""
    last = max(i for i, line in enumerate(tree.body) if isinstance(line, (ast.Import, ast.ImportFrom)))
    tree.body[last + 1 : last + 1] = lines(source)


# Stage A.


def delta_stands_alone(tree):
    delta = named(tree.body, ast.ClassDef, KIND)
    bases = [said(base) for base in delta.bases]
    if bases != ["Event"]:
        raise Unrecognised(f"expected {KIND} to be a subclass of Event alone, found {bases}")
    fields = [line.target.id for line in delta.body if isinstance(line, ast.AnnAssign)]
    if fields != ["source", "content", "reasoning_content"]:
        raise Unrecognised(f"expected the fields source, content and reasoning_content, found {fields}")
    begin(
        tree,
        """
from datetime import datetime as _now
from uuid import uuid4 as _uuid
from pydantic import Field as _Field
from openhands.sdk.utils.models import DiscriminatedUnionMixin as _Union
""",
    )
    delta.bases = [ast.Name("_Union", ast.Load())]
    # Declared first, so that the keys on the wire keep their order. No `extra="forbid"`: that a client built from this
    # leaves out what it does not know is what the proposal is for.
    first = next(i for i, line in enumerate(delta.body) if isinstance(line, ast.AnnAssign))
    delta.body[first:first] = lines(
        """
id: str = _Field(default_factory=lambda: str(_uuid()))
timestamp: str = _Field(default_factory=lambda: _now.now().isoformat())
"""
    )


# Stage B.


def deltas_have_a_bus(tree):
    service = named(tree.body, ast.ClassDef, "EventService")
    buses = (
        (i, line)
        for i, line in enumerate(service.body)
        if isinstance(line, ast.AnnAssign) and said(line.target) == "_pub_sub"
    )
    i, bus = only(buses, "the field `_pub_sub` of EventService")
    # A copy of the conversation's bus, with its limit of subscribers.
    bus = copy.deepcopy(bus)
    bus.target.id = "_delta_bus"
    service.body[i + 1 : i + 1] = [bus, *lines("_delta_seats: dict = field(default_factory=dict, init=False)")]

    publish = only(
        (n for n in ast.walk(service) if isinstance(n, ast.FunctionDef) and n.name == "_publish_stream_delta"),
        "function _publish_stream_delta",
    )
    call(publish, "self._pub_sub(event)").func.attr = "_delta_bus"

    join = named(service.body, ast.AsyncFunctionDef, "subscribe_to_events")
    join.args.kwonlyargs.append(ast.arg("deltas"))
    join.args.kw_defaults.append(ast.Constant(False))
    # Before the first state is pushed, as it was with one bus: a delta of that moment is not lost.
    after(
        join,
        "subscriber_id = self._pub_sub.subscribe(subscriber)",
        """
if deltas:
    self._delta_seats[subscriber_id] = self._delta_bus.subscribe(subscriber)
""",
    )
    part = named(service.body, ast.AsyncFunctionDef, "unsubscribe_from_events")
    body, i = place(part, "return self._pub_sub.unsubscribe(subscriber_id)")
    body[i:i] = lines(
        """
seat = self._delta_seats.pop(subscriber_id, None)
if seat is not None:
    self._delta_bus.unsubscribe(seat)
"""
    )
    end = named(service.body, ast.AsyncFunctionDef, "close")
    after(end, "await self._pub_sub.close()", "await self._delta_bus.close()")


def legacy_socket_joins(tree):
    endpoint = named(tree.body, ast.AsyncFunctionDef, "events_socket")
    join = call(endpoint, "event_service.subscribe_to_events(_WebSocketSubscriber(websocket))")
    join.keywords.append(ast.keyword("deltas", ast.Constant(True)))


# Stage C.


def client_looks_at_the_kind(tree):
    begin(tree, f"import {SELF} as _stages")
    socket = named(tree.body, ast.ClassDef, "WebSocketCallbackClient")
    loop = named(socket.body, ast.AsyncFunctionDef, "_client_loop")
    text = "event = Event.model_validate(json.loads(message))"
    body, i = place(loop, text)
    frames = [n for n in ast.walk(loop) if isinstance(n, ast.AsyncFor) and said(n.target) == "message"]
    tries = [line for line in only(frames, "`async for message`").body if isinstance(line, ast.Try)]
    if only(tries, "a try for each message").body is not body:
        raise Unrecognised(f"expected `{text}` in the try for each message")
    body[i : i + 1] = lines(
        """
frame = json.loads(message)
if _stages.is_delta(frame):
    self._on_delta(_stages.as_delta(frame))
    continue
event = Event.model_validate(frame)
"""
    )

    conversation = named(tree.body, ast.ClassDef, "RemoteConversation")
    build = named(conversation.body, ast.FunctionDef, "__init__")
    build.args.kwonlyargs.append(ast.arg("delta_callbacks"))
    build.args.kw_defaults.append(ast.Constant(None))
    build.body[:0] = lines("self._delta_callbacks = list(delta_callbacks or ())")
    made = (
        n
        for n in ast.walk(conversation)
        if isinstance(n, ast.Assign) and said(n.value).startswith("WebSocketCallbackClient(")
    )
    made = only(made, "`WebSocketCallbackClient(...)` in RemoteConversation")
    if said(made.targets[0]) != "self._ws_client":
        raise Unrecognised("expected `self._ws_client = WebSocketCallbackClient(...)`")
    made.value = ast.Call(lines("_stages.with_deltas")[0].value, [made.value, ast.Name("self", ast.Load())], [])

    if any(isinstance(n, ast.FunctionDef) and n.name == "_token_delta_callback" for n in tree.body):
        # 1.56.0 and later: the token callbacks live on deltas, and move with them.
        move = call(conversation, "self._callbacks.append(_token_delta_callback(token_callbacks))")
        move.func.value.attr = "_delta_callbacks"


def is_delta(frame):
    """Whether a decoded frame says that it is a delta."""
    return isinstance(frame, dict) and frame.get("kind") == KIND


def as_delta(frame):
    """The delta in a frame."""
    from openhands.sdk.event import StreamingDeltaEvent

    return StreamingDeltaEvent.model_validate(frame)


def with_deltas(client, conversation):
    """The socket client, with the callbacks that deltas go to. One that fails ends the delta, as with events."""

    def on_delta(delta):
        for callback in getattr(conversation, "_delta_callbacks", ()):
            callback(delta)

    client._on_delta = on_delta
    return client


def decode(raw):
    """What the socket client makes of a frame under stage C."""
    from openhands.sdk.event import Event

    frame = json.loads(raw)
    return as_delta(frame) if is_delta(frame) else Event.model_validate(frame)


# Laying it over.

STAGES = {
    "A": {DELTA: delta_stands_alone},
    "B": {SERVICE: deltas_have_a_bus, SOCKETS: legacy_socket_joins},
    "C": {CLIENT: client_looks_at_the_kind},
}
_applied = ""


def applied():
    """The letters of the stages that are laid over this process."""
    return _applied


def package_of(module):
    """The distribution that a module comes with."""
    return "openhands-agent-server" if module.startswith("openhands.agent_server") else "openhands-sdk"


def find(module):
    """The source file of a module, found without importing the packages above it."""
    relative = module.replace(".", os.sep) + ".py"
    for folder in sys.path:
        path = os.path.join(folder or os.getcwd(), relative)
        if os.path.isfile(path):
            return os.path.realpath(path)
    return None


def prepare(stages):
    """The changed code of every module concerned, by module: `(file, code)`. Imports nothing."""
    prepared = {}
    for stage in stages:
        for module, change in STAGES[stage].items():
            package = package_of(module)
            try:
                release = version(package)
            except PackageNotFoundError:
                # A client needs no server: stage B has nothing to change there.
                if stage == "B":
                    continue
                raise Unrecognised(f"cannot lay stage {stage} over {package}: it is not installed") from None
            where = f"cannot lay stage {stage} over {package} {release}"
            path = find(module)
            if path is None:
                raise Unrecognised(f"{where}: there is no module {module}")
            with open(path, encoding="utf-8") as file:
                tree = ast.parse(file.read(), path)
            try:
                change(tree)
            except Unrecognised as reason:
                raise Unrecognised(f"{where}: {path}: {reason}") from None
            # Calls of ours have no place in the file; they take that of what is around them.
            prepared[module] = (path, compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True))
    return prepared


class Loader(importlib.machinery.SourceFileLoader):
    """Gives the changed code instead of what is in the file or in its cache."""

    def __init__(self, name, path, code):
        super().__init__(name, path)
        self.changed = code

    def get_code(self, fullname):
        return self.changed


class Finder:
    """Finds the modules concerned before anything else does."""

    def __init__(self, prepared):
        self.prepared = prepared

    def find_spec(self, name, path=None, target=None):
        if name not in self.prepared:
            return None
        file, code = self.prepared[name]
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or os.path.realpath(spec.origin) != file:
            found = spec and spec.origin
            raise ImportError(f"the stages were prepared for {file}, and {name} is imported from {found}", name=name)
        spec.loader = Loader(name, spec.origin, code)
        return spec


def usage(problem):
    print(f"stages.py: {problem}\nusage: stages.py STAGES (-m MODULE | SCRIPT.py) ARGS...", file=sys.stderr)
    sys.exit(2)


def main(argv):
    global _applied
    if len(argv) < 2:
        usage("expected stages and a program")
    stages, target, *rest = argv
    if not stages or "".join(sorted(set(stages))) != stages or not set(stages) <= set(STAGES):
        usage(f"expected letters of {''.join(STAGES)} in order, found {stages!r}")
    if target == "-m" and not rest:
        usage("expected a module after -m")
    # What Python itself would put there for the program.
    sys.path[0] = os.getcwd() if target == "-m" else os.path.dirname(os.path.abspath(target))
    try:
        prepared = prepare(stages)
    except Unrecognised as reason:
        print(f"stages.py: {reason}", file=sys.stderr)
        sys.exit(2)
    early = sorted(set(prepared) & set(sys.modules))
    if early:
        print(f"stages.py: {', '.join(early)} imported before the stages were laid over", file=sys.stderr)
        sys.exit(2)
    _applied = stages
    sys.modules[SELF] = sys.modules[__name__]
    sys.meta_path.insert(0, Finder(prepared))
    if target == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [target, *rest]
        runpy.run_path(target, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
