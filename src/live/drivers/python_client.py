"""The application behind a released Python client: skewlab tells it what to do, it tells skewlab what reached it.

Commands come as JSON lines on standard input, reports go out as marked JSON lines on standard output. README.md beside
this file has the protocol. The package is used through its public interface, and nothing of it is changed here.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time

START, EPOCH = time.monotonic(), time.time()
MARK = "@skewlab "
LEAVE_S = 10.0
QUIT_S = 2.0
SHORT = 200
LONG = 500


def wellformed(text):
    """A text that UTF-8 can hold: half a character, which JSON can carry, becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Reports:
    """Writes reports to what was standard output; whatever else is printed from now on goes to standard error.

    A line that a library prints without an end could otherwise swallow the mark of the report after it.
    """

    def __init__(self):
        self.lock = threading.Lock()
        sys.stdout.flush()
        self.fd = os.dup(1)
        os.dup2(2, 1)

    def __call__(self, ev, cell=None, **fields):
        with self.lock:
            report = {"ev": ev, "cell": cell, "at": round(time.monotonic() - START, 6), **fields}
            line = (MARK + wellformed(json.dumps(report, default=str, ensure_ascii=False)) + "\n").encode()
            while line:
                line = line[os.write(self.fd, line) :]


report = Reports()


def plain(value):
    """The word for an enum or a string, and `None` for nothing."""
    return None if value is None else str(getattr(value, "value", value))


def blame(error):
    """What a report says of an exception."""
    return {"type": type(error).__name__, "error": str(error)[:LONG]}


class Owners:
    """Which cell a thread works for, so that a log line of a cell that was left is not put down to the next one.

    The package starts threads of its own and gives them no name. What appears while a cell is attended is that cell's.
    """

    def __init__(self):
        self.cell = None
        self.of = {}

    def begin(self, cell):
        alive = threading.enumerate()
        self.of = {thread: self.of.get(thread, self.cell) for thread in alive}
        self.cell = cell

    def put(self, cell):
        self.of[threading.current_thread()] = cell

    def get(self):
        return self.of.get(threading.current_thread(), self.cell)


owners = Owners()
started = time.monotonic()
try:
    import inspect
    import logging
    from importlib.metadata import version
    from uuid import UUID

    from pydantic import SecretStr

    from openhands.sdk import LLM, Agent, Workspace
    from openhands.sdk.conversation.impl.remote_conversation import RemoteConversation
    from openhands.sdk.event import Event, MessageEvent
except BaseException as error:
    report("failed", **blame(error))
    raise
IMPORT_S = round(time.monotonic() - started, 3)
# stages.py, when it is what started this file.
overlay = sys.modules.get("skewlab_stages")
staged = overlay.applied() if overlay else ""


class Log(logging.Handler):
    """Reports what the package logs, from warnings upwards."""

    def emit(self, record):
        error = record.exc_info[1] if record.exc_info else None
        said = blame(error) if error else {"type": None, "error": None}
        try:
            message = record.getMessage()
        except Exception as fault:
            message = f"{record.msg} (cannot be formatted: {fault})"
        report(
            "log",
            owners.get(),
            level=record.levelname,
            logger=record.name,
            message=message[:SHORT],
            **said,
        )


def text_of(event):
    """The text of a MessageEvent."""
    return "".join(getattr(part, "text", "") for part in event.llm_message.content)


def describe(event):
    """What a report says of an event."""
    name = type(event).__name__
    said = {
        "class": name,
        "kind": getattr(event, "kind", None),
        "id": getattr(event, "id", None),
        "source": getattr(event, "source", None),
    }
    if name == "StreamingDeltaEvent":
        said |= {"content": event.content, "reasoning": event.reasoning_content}
    elif isinstance(event, MessageEvent) and event.source == "agent":
        said["text"] = text_of(event)
    elif name == "ConversationStateUpdateEvent":
        said["key"] = event.key
        # What JSON has no word for, or is nested too deeply, is left out. The package must not see an error of ours.
        with contextlib.suppress(ValueError, RecursionError):
            value = json.dumps(event.value, default=str, allow_nan=False)
            if len(value) <= SHORT:
                said["value"] = json.loads(value)
    return said


class Cell:
    """One conversation and what is known of it."""

    def __init__(self, name):
        self.name = name
        self.conversation = None
        self.attended = threading.Event()
        self.left = False

    def work(self, task, *args):
        """Runs a task on a thread of its own, because the package blocks and standard input must stay live."""

        def body():
            owners.put(self.name)
            task(*args)

        thread = threading.Thread(target=body, daemon=True)
        thread.start()
        return thread

    def on_event(self, which):
        def on_event(event):
            if not self.left:
                report("callback", self.name, list=which, **describe(event))

        return on_event

    def on_token(self, chunk):
        if self.left:
            return
        delta = chunk.choices[0].delta if chunk.choices else None
        report(
            "token",
            self.name,
            list="token_callbacks",
            id=chunk.id,
            content=getattr(delta, "content", None),
            reasoning=getattr(delta, "reasoning_content", None),
        )

    def attend(self, order):
        # Before 1.56.0 `token_callbacks` is swallowed without a word. It is passed all the same: that is a finding.
        lists = {"callbacks": [self.on_event("callbacks")], "token_callbacks": [self.on_token]}
        if "delta_callbacks" in inspect.signature(RemoteConversation.__init__).parameters:
            lists["delta_callbacks"] = [self.on_event("delta_callbacks")]
        try:
            fields = {
                "usage_id": "agent",
                "model": order["model"],
                "api_key": SecretStr("sk-skewlab"),
                "base_url": order["llm"],
                "stream": True,
                "num_retries": 0,
                **(order.get("agent") or {}),
            }
            known = order.get("conversation")
            self.conversation = RemoteConversation(
                agent=Agent(llm=LLM(**fields), tools=[], include_default_tools=[]),
                workspace=Workspace(host=order["url"], working_dir=order["workdir"], api_key=order["key"]),
                conversation_id=UUID(known) if known else None,
                visualizer=None,
                stuck_detection=False,
                **lists,
            )
            report(
                "ready",
                self.name,
                conversation=str(self.conversation.id),
                lists=dict.fromkeys(lists, "given"),
            )
        except Exception as error:
            report("failed", self.name, **blame(error))
        finally:
            self.attended.set()
        if self.left:
            self.close()

    def say(self, order):
        start = time.monotonic()
        try:
            self.attended.wait()
            if self.conversation is None:
                raise RuntimeError("there is no conversation: attend failed")
            self.conversation.send_message(order["text"])
            if not order.get("run", True):
                report("said", self.name, seconds=round(time.monotonic() - start, 3))
                return
            self.conversation.run()
            took = round(time.monotonic() - start, 3)
            report("ran", self.name, status=plain(self.conversation.state.execution_status), seconds=took)
        except Exception as error:
            report("raised", self.name, **blame(error))

    def look(self, known):
        """Fills in what can be found out, the cheap things first."""
        try:
            if self.conversation is None:
                return
            known["unfinished"] = "events"
            kinds, final = {}, ""
            for event in self.conversation.state.events[:]:
                name = type(event).__name__
                kinds[name] = kinds.get(name, 0) + 1
                if isinstance(event, MessageEvent) and event.source == "agent":
                    final = text_of(event)
            known |= {"events": kinds, "final": final, "unfinished": "status"}
            known["status"] = plain(self.conversation.state.execution_status)
            known["unfinished"] = None
        except Exception as error:
            known |= blame(error)

    def leave(self, seconds=LEAVE_S):
        """Says what the list of events holds in the end, and closes. What hung or failed is named in `unfinished`."""
        known = {"events": {}, "final": "", "status": None, "unfinished": "attend"}
        self.work(self.look, known).join(seconds)
        self.left = True
        report("left", self.name, **known.copy())
        # After the report: the package waits five seconds for a thread of its own that sleeps on the socket.
        self.work(self.close)

    def close(self):
        try:
            if self.conversation is not None:
                self.conversation.close()
        except Exception as error:
            report("log", self.name, level="ERROR", logger="skewlab", message="close failed", **blame(error))


def decode(raw):
    """What the socket client of this release does with a frame, from 1.1.0 to 1.58.2, and with stage C."""
    if "C" in staged:
        return overlay.decode(raw)
    return Event.model_validate(json.loads(raw))


def check(order):
    said = dict.fromkeys(("name", "outcome", "class", "type", "error", "content", "reasoning"))
    said |= {"name": order.get("name"), "outcome": "rejected"}
    try:
        event = decode(order["raw"])
    except Exception as error:
        said |= blame(error)
    else:
        told = describe(event)
        said |= {"outcome": "accepted", "class": told["class"]}
        said |= {"content": told.get("content"), "reasoning": told.get("reasoning")}
    report("checked", order.get("cell"), **said)


def obey(order, cells):
    """Does one command. Returns whether to go on."""
    do, name = order.get("do"), order.get("cell")
    if do == "quit":
        return False
    if do == "check":
        check(order)
    elif do == "attend" and name not in cells:
        owners.begin(name)
        cells[name] = Cell(name)
        cells[name].work(cells[name].attend, order)
    elif do == "say" and name in cells:
        cells[name].work(cells[name].say, order)
    elif do == "leave" and name in cells:
        cell = cells.pop(name)
        cell.work(cell.leave)
    else:
        report("refused", name, error=f"cannot {do!r} for cell {name!r}: attended are {sorted(cells)}")
    return True


def main():
    logging.getLogger().handlers.insert(0, Log(logging.WARNING))
    # Whatever the package made of it: ended at once.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    owners.begin(None)
    report(
        "hello",
        package="openhands-sdk",
        version=version("openhands-sdk"),
        stages=staged,
        import_s=IMPORT_S,
        epoch=EPOCH,
    )
    cells = {}
    for line in sys.stdin:
        try:
            order = json.loads(line)
            go_on = obey(order, cells)
        except Exception as error:
            report("refused", **blame(error))
            continue
        if not go_on:
            break
    for cell in cells.values():
        cell.leave(QUIT_S)
    # The package leaves threads and exit hooks behind that nobody waits for.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
