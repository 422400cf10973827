# Routes and OpenAPI, which need the whole application, and the document.


def application():
    from openhands.agent_server.api import create_app

    return create_app()


def routes(holder, before=""):
    """Every route. FastAPI 0.165 keeps an included router as it is, with the prefix beside it."""
    found = []
    for route in holder:
        included = getattr(route, "original_router", None)
        if included is not None:
            found += routes(included.routes, before + route.include_context.prefix)
        elif getattr(route, "path", None):
            methods = sorted(getattr(route, "methods", None) or [])
            methods = methods or ["WEBSOCKET" if "WebSocket" in type(route).__name__ else "MOUNT"]
            found += [f"{method} {before}{route.path}" for method in methods]
    return found


APP = []


@fact("server.routes", "asked: the routes of the FastAPI application")
def _():
    APP.append(application())
    found = sorted(set(routes(APP[0].routes)))
    need(any(r.startswith("WEBSOCKET") and "/sockets/events" in r for r in found), f"no events socket among {len(found)} routes")
    return found


@fact("server.openapi", "asked: the OpenAPI document of the application")
def _():
    need(APP, "there is no application")
    schemas = APP[0].openapi()["components"]["schemas"]
    union = next(schemas[name] for name in ("Event", "Event-Output", "Event-Input") if name in schemas)
    members = [m.get("$ref", "").rsplit("/", 1)[-1] for m in union.get("oneOf") or union.get("anyOf") or []]
    short = sorted(member.split("__")[-1].removesuffix("-Output").removesuffix("-Output-1") for member in members)
    need(short, "Event has no members")
    discriminator = union.get("discriminator") or {}
    return {
        "event_members": len(short),
        "delta_is_one": any("StreamingDeltaEvent" in member for member in members),
        "discriminator": discriminator.get("propertyName"),
        "schemas": len(schemas),
    }


def packages():
    found = {}
    for name in ("openhands-agent-server", "openhands-sdk", "openhands-tools", "openhands-workspace"):
        try:
            found[name] = package(name)
        except Exception as error:
            FAULTS.append({"fact": f"package {name}", "message": f"{type(error).__name__}: {error}"[:300]})
    for name in ("pydantic", "fastapi", "starlette", "uvicorn", "websockets", "mcp", "litellm"):
        try:
            found[name] = {"version": importlib.metadata.version(name)}
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


FOUND = packages()
json.dump(
    {
        "schema": "skewlab.package/1",
        "python": ".".join(map(str, sys.version_info[:3])),
        "packages": FOUND,
        "facts": FACTS,
        "faults": FAULTS,
    },
    OUT,
    indent=1,
)
OUT.flush()
os._exit(0)  # threads and executors of the packages would keep the process
