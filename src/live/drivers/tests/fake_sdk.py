"""Writes a package with the shape that the driver and the stages know, into the folder given: `fake_sdk.py FOLDER`."""

import pathlib
import sys

FILES = {
    "openhands_sdk-9.9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: openhands-sdk\nVersion: 9.9.9\n",
    "pydantic.py": """
class SecretStr(str):
    pass


def Field(default_factory):
    return default_factory
""",
    "openhands/sdk/__init__.py": """
class Anything:
    def __init__(self, **fields):
        self.__dict__.update(fields)


LLM = Agent = Workspace = Anything
""",
    "openhands/sdk/utils/__init__.py": "",
    "openhands/sdk/utils/models.py": """
class DiscriminatedUnionMixin:
    content = reasoning_content = None

    def __init__(self, **fields):
        self.__dict__.update(fields)

    @property
    def kind(self):
        return type(self).__name__

    @classmethod
    def model_validate(cls, data):
        data = dict(data)
        kind = data.pop("kind", None)
        found = [sub for sub in [cls, *cls.__subclasses__()] if sub.__name__ == kind]
        if not found:
            raise ValueError(f"Unknown kind {kind!r} for {cls.__name__}")
        return found[0](**data)
""",
    "openhands/sdk/event/__init__.py": """
from openhands.sdk.event.base import Event, MessageEvent
from openhands.sdk.event.streaming_delta import StreamingDeltaEvent
""",
    "openhands/sdk/event/base.py": """
from openhands.sdk.utils.models import DiscriminatedUnionMixin


class Event(DiscriminatedUnionMixin):
    pass


class MessageEvent(Event):
    @property
    def llm_message(self):
        part = type("Part", (), {"text": self.text})
        return type("Message", (), {"content": [part]})
""",
    "openhands/sdk/event/streaming_delta.py": """
from openhands.sdk.event.base import Event


class StreamingDeltaEvent(Event):
    source: str = "agent"
    content: str = None
    reasoning_content: str = None
""",
    "openhands/sdk/conversation/__init__.py": "",
    "openhands/sdk/conversation/impl/__init__.py": "",
    "openhands/sdk/conversation/impl/remote_conversation.py": '''
import asyncio
import json
import logging
import uuid
from types import SimpleNamespace as Box

from openhands.sdk.event.base import Event
from openhands.sdk.event.streaming_delta import StreamingDeltaEvent

FRAMES = [
    """{"kind": "StreamingDeltaEvent", "id": "1", "source": "agent", "content": "Hel"}""",
    """{"kind": "Unheard"}""",
    """{"kind": "StreamingDeltaEvent", "id": "2", "source": "agent", "content": "lo"}""",
    """{"kind": "MessageEvent", "id": "3", "source": "agent", "text": "Hello"}""",
]


def _token_delta_callback(token_callbacks):
    def callback(event):
        if isinstance(event, StreamingDeltaEvent):
            delta = Box(content=event.content, reasoning_content=event.reasoning_content)
            for one in token_callbacks:
                one(Box(id=event.id, choices=[Box(delta=delta)]))

    return callback


class WebSocketCallbackClient:
    def __init__(self, callback):
        self.callback = callback

    async def frames(self):
        for frame in FRAMES:
            yield frame

    async def _client_loop(self):
        async for message in self.frames():
            try:
                event = Event.model_validate(json.loads(message))
                self.callback(event)
            except Exception:
                logging.getLogger("fake.socket").exception("ws_event_processing_error")


class RemoteConversation:
    def __init__(self, agent, workspace, callbacks=None, token_callbacks=None, **_):
        if workspace.host == "http://nowhere":
            raise ConnectionError("nobody there")
        self.id = uuid.UUID(int=7)
        self.state = Box(events=[], execution_status=Box(value="finished"))
        self._callbacks = callbacks or []
        self._callbacks.append(_token_delta_callback(token_callbacks))
        self._ws_client = WebSocketCallbackClient(callback=self.on_event)

    def on_event(self, event):
        self.state.events.append(event)
        for callback in self._callbacks:
            callback(event)

    def send_message(self, text):
        print("a line without an end", end="", flush=True)

    def run(self):
        asyncio.run(self._ws_client._client_loop())

    def close(self):
        pass
''',
}


def main(folder):
    for name, text in FILES.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


main(sys.argv[1])
