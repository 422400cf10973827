# The webhook poster: run with a sink that answers when it is told to.


class Sink:
    """Stands for httpx.AsyncClient: each post waits until it is let go."""

    def __init__(self):
        self.posts, self.gates = [], []

    def client(self, *_, **__):
        return self

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return False

    async def request(self, *_, json=None, **__):
        self.posts.append(len(json or []))
        gate = asyncio.Event()
        self.gates.append(gate)
        await gate.wait()
        return types.SimpleNamespace(raise_for_status=lambda: None, status_code=200)

    post = request


@fact("server.webhook", "asked: the defaults of WebhookSpec")
def _():
    from openhands.agent_server.config import WebhookSpec

    names = ("event_buffer_size", "flush_delay", "num_retries", "retry_delay", "max_queue_size", "max_batch_bytes", "max_queue_bytes")
    fields = WebhookSpec.model_fields
    return {name: fields[name].default if name in fields else 0 for name in names}


@fact("server.webhook_posts", "run: a webhook subscriber whose sink is slow, its buffer filled again meanwhile")
def _():
    from openhands.agent_server.config import WebhookSpec

    module = importlib.import_module(SERVER + "conversation_service")
    sink, kept = Sink(), module.httpx
    module.httpx = Instead(kept, AsyncClient=sink.client)

    async def post():
        spec = WebhookSpec(base_url="http://skewlab.invalid", event_buffer_size=2, flush_delay=3600)
        subscriber = subscriber_classes()["WebhookSubscriber"](conversation_id=uuid.uuid4(), service=None, spec=spec)
        tasks = []
        for _ in range(2):
            for _ in range(2):
                tasks.append(asyncio.ensure_future(subscriber(state_event())))
                await settle()
        in_flight = len(sink.posts)
        for gate in list(sink.gates):
            gate.set()
        await settle()
        after = len(sink.posts)
        for gate in sink.gates:
            gate.set()
        await settle()
        for task in tasks:
            task.cancel()
        timer = getattr(subscriber, "_flush_timer", None)
        if timer:
            timer.cancel()
        return {"in_flight": in_flight, "after_the_first": after}

    try:
        return run(post())
    finally:
        module.httpx = kept
