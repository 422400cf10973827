#!/usr/bin/env python3
"""Puts skewlab's load client beside Artillery, Locust and a raw epoll reader, on the same pushed traffic.

See README.md in this folder. Needs a release build of skewlab; installs the peers under target/peers when they are
missing. Linux only: CPU and memory are read from /proc.
"""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKEWLAB = ROOT / "target/release/skewlab"
PEERS = ROOT / "target/peers"
ARTILLERY = "2.0.34"
LOCUST = "2.47.0"
TICK = os.sysconf("SC_CLK_TCK")
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


def install(names):
    """Installs what is asked for and missing. Nothing is installed outside target/peers."""
    PEERS.mkdir(parents=True, exist_ok=True)
    if any(n.startswith("artillery") for n in names) and not (PEERS / "node_modules/.bin/artillery").exists():
        print("installing artillery", ARTILLERY, file=sys.stderr)
        npm = ["npm", "install", "--prefix", PEERS, "--no-fund", "--no-audit", "--ignore-scripts"]
        subprocess.run([*npm, f"artillery@{ARTILLERY}"], check=True, stdout=sys.stderr)
    if "locust" in names and not (PEERS / "venv/bin/locust").exists():
        print("installing locust", LOCUST, file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", PEERS / "venv"], check=True)
        pip = [PEERS / "venv/bin/pip", "install", "-q", f"locust=={LOCUST}", "websocket-client"]
        subprocess.run(pip, check=True, stdout=sys.stderr)


class Server:
    """`skewlab serve` with a numbered reply, and no cap on its subscribers."""

    def __init__(self, work, tokens, rate, withhold):
        scenario = work / "push.toml"
        scenario.write_text(
            'question = "What does it cost to read what a server pushes?"\n'
            'servers = ["1.58.2"]\nclients = ["python-1.58.2"]\nworkloads = ["push"]\n'
            f"[workload.push]\nrate = {rate}\ngenerate = {{ count = {tokens} }}\n"
        )
        profiles = work / "profiles/servers"
        profiles.mkdir(parents=True, exist_ok=True)
        (profiles / "withholding.toml").write_text(
            'name = "withholding"\nextends = "1.58.2"\nsummary = "Loses every hundredth delta."\n'
            "[mutant]\ndrop_every = 100\n"
        )
        name = "withholding" if withhold else "1.58.2"
        command = [SKEWLAB, "serve", "--server", name, "--profiles", work / "profiles", "--script", f"{scenario}:push"]
        self.process = subprocess.Popen([*command, "--max-subscribers", "0"], stdout=subprocess.PIPE, text=True)
        self.http = self.process.stdout.readline().strip()
        self.conversation = self.process.stdout.readline().split()[1]
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.http.rsplit(":", 1)[1])

    def subscribers(self):
        """Connections that are established, by the kernel's own table."""
        local = f":{self.port:04X}"
        lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
        rows = (line.split() for line in lines)
        return sum(1 for row in rows if row[1].endswith(local) and row[3] == "01")

    def stream(self):
        """Starts the reply."""
        body = json.dumps({"role": "user", "content": [{"type": "text", "text": "go"}], "run": True}).encode()
        url = f"{self.http}/api/conversations/{self.conversation}/events"
        request = urllib.request.Request(url, body, {"content-type": "application/json"})
        urllib.request.urlopen(request).read()

    def stop(self):
        self.process.kill()
        self.process.wait()


def tree(pid):
    """A process and its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        found = [int(child) for child in children.read_text().split()]
    except OSError:
        return []
    return [pid] + [below for child in found for below in tree(child)]


def cpu_and_rss(pid):
    """CPU seconds so far and KiB resident, of the whole tree."""
    cpu = rss = 0
    for each in tree(pid):
        try:
            stat = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
            pages = Path(f"/proc/{each}/statm").read_text().split()[1]
        except OSError:
            continue
        cpu += (int(stat[11]) + int(stat[12])) / TICK
        rss += int(pages) * PAGE_KIB
    return cpu, rss


def command(client, server, sockets, seconds, work):
    """The command line of a client that reads for that long, and its environment."""
    if client in ("skewlab", "raw"):
        line = [SKEWLAB, "bench", "client", server.url, "--sockets", str(sockets), "--for", f"{seconds}s"]
        return line + (["--raw"] if client == "raw" else []), {}
    if client == "locust":
        line = [PEERS / "venv/bin/locust", "-f", HERE / "locustfile.py", "--headless", "-u", str(sockets)]
        line += ["-r", "250", "-t", f"{seconds}s", "--only-summary", "--stop-timeout", "2"]
        return line, {"PEER_URL": server.url}
    flow = [{"function": "listen"}, {"think": seconds}]
    if client == "artillery-wait":
        flow = [{"loop": [{"wait": {"match": {"json": "$.kind", "value": "StreamingDeltaEvent"}}}], "count": 10**6}]
    config = {
        "config": {
            "target": server.url,
            "processor": str(HERE / "listen.js"),
            "phases": [{"duration": max(1, sockets // 250), "arrivalCount": sockets}],
        },
        "scenarios": [{"engine": "ws", "flow": flow}],
    }
    script = work / "artillery.json"
    script.write_text(json.dumps(config))
    return [PEERS / "node_modules/.bin/artillery", "run", "--quiet", script], {"ARTILLERY_DISABLE_TELEMETRY": "true"}


def run(client, args, work, withhold=False):
    """One client, one server, one reply to every socket."""
    seconds = args.tokens / args.rate
    server = Server(work, args.tokens, args.rate, withhold)
    # Enough to get all sockets open, the reply, and a rest.
    patience = int(seconds + args.sockets / 200 + 15)
    line, environment = command(client, server, args.sockets, patience, work)
    log = (work / f"{client}.log").open("w")
    process = subprocess.Popen(
        line, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **environment}, start_new_session=True
    )
    try:
        until = time.monotonic() + 60
        while server.subscribers() < args.sockets:
            if process.poll() is not None or time.monotonic() > until:
                log.close()
                tail = (work / f"{client}.log").read_text()[-1000:]
                raise SystemExit(f"{client}: {server.subscribers()} of {args.sockets} sockets opened\n{tail}")
            time.sleep(0.1)
        start_cpu, idle_rss = cpu_and_rss(process.pid)
        time.sleep(2)
        before, _ = cpu_and_rss(process.pid)
        idle = (before - start_cpu) / 2
        began = time.monotonic()
        server.stream()
        time.sleep(seconds + 1)
        after, rss = cpu_and_rss(process.pid)
        took = time.monotonic() - began
        deltas = args.sockets * args.tokens
        if withhold:
            deltas -= args.sockets * (args.tokens // 100)
        micros = (after - before - idle * took) / deltas * 1e6
        try:
            code = process.wait(patience + 30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            code = process.wait(30)
        return {"micros": micros, "rss_mib": rss / 1024, "start_cpu_s": start_cpu, "exit": code}
    finally:
        server.stop()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        log.close()


def noticed(client, work):
    """The lines of a client's output that speak of something missing or failed."""
    text = (work / f"{client}.log").read_text()
    words = re.compile(r"missing|withheld|lost|short|fail|error|exception", re.I)
    quiet = re.compile(r"\b0\(|: 0\b|# fails|\bnothing\b")
    lines = [" ".join(line.split()) for line in text.splitlines() if words.search(line) and not quiet.search(line)]
    return lines[:3]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", default="raw,skewlab,artillery,locust", help="also: artillery-wait")
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=20, help="deltas a second to each socket")
    parser.add_argument("--tokens", type=int, default=200, help="deltas to each socket")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    clients = args.clients.split(",")
    if args.tokens < 100:
        raise SystemExit("--tokens: at least 100, so that one in a hundred can be withheld")
    if not SKEWLAB.exists():
        raise SystemExit(f"{SKEWLAB} is missing: cargo build --release")
    install(clients)
    work = PEERS / "work"
    work.mkdir(exist_ok=True)
    rounds = {client: [] for client in clients}
    for number in range(args.rounds):
        for client in random.Random(number).sample(clients, len(clients)):
            result = run(client, args, work)
            rounds[client].append(result)
            print(f"round {number + 1}: {client} {result['micros']:.2f} µs a message", file=sys.stderr)
    print(f"{args.sockets} sockets, {args.rate:g} deltas a second each, {args.tokens} deltas, medians of {args.rounds}\n")
    print("| client | CPU µs a message | of raw | MiB | KiB a socket | CPU s to start |")
    print("|---|---|---|---|---|---|")
    median = lambda client, figure: statistics.median(r[figure] for r in rounds[client])
    for client in clients:
        micros, mib = median(client, "micros"), median(client, "rss_mib")
        of_raw = f"{micros / median('raw', 'micros'):.2f}" if "raw" in clients else "-"
        start = median(client, "start_cpu_s")
        print(f"| {client} | {micros:.2f} | {of_raw} | {mib:.0f} | {mib * 1024 / args.sockets:.1f} | {start:.2f} |")
    print("\none delta in a hundred withheld, no total told:\n")
    print("| client | exit | what it said |")
    print("|---|---|---|")
    for client in clients:
        result = run(client, args, work, withhold=True)
        said = "; ".join(noticed(client, work)).replace("|", "\\|") or "nothing"
        print(f"| {client} | {result['exit']} | {said[:200]} |")


if __name__ == "__main__":
    main()
