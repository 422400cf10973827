"""Locust with websocket-client: one user a socket, every frame parsed and reported as a request."""

import json
import os
import time

import websocket
from locust import User, constant, events, task

URL = os.environ["PEER_URL"]


class Subscriber(User):
    wait_time = constant(0)

    def on_start(self):
        self.socket = websocket.create_connection(URL)

    @task
    def read(self):
        started = time.perf_counter()
        try:
            raw = self.socket.recv()
        except websocket.WebSocketException as error:
            events.request.fire(
                request_type="WS", name="frame", response_time=0, response_length=0, exception=error, context={}
            )
            self.stop()
            return
        if not raw:
            self.stop()
            return
        frame = json.loads(raw)
        if frame.get("kind") == "StreamingDeltaEvent":
            events.request.fire(
                request_type="WS",
                name="delta",
                response_time=(time.perf_counter() - started) * 1000,
                response_length=len(raw),
                exception=None,
                context={},
            )
