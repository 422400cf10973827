// The application behind a released TypeScript client: node typescript_client.mjs PACKAGE_DIR require|none
//
// Same protocol as python_client.py; README.md beside this file has it. PACKAGE_DIR is the package, or a folder in whose
// node_modules it is. The package is ESM but calls a bare require('ws'): without the shim `require` it has no WebSocket
// under Node, which is a finding and therefore an option.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const PACKAGE = '@openhands/typescript-client';
const CHECK_HOST = 'check.invalid';
const READY_MS = 10_000;
const LEAVE_MS = 10_000;
const QUIT_MS = 2_000;
const POLL_MS = 200;
// After the order to run, a conversation may still show the end of its last turn for so long.
const STALE_MS = 3_000;
const SHORT = 200;
const LONG = 500;
const ENDS = ['finished', 'error', 'stuck', 'paused'];

/** For JSON.stringify: half a character, which UTF-8 cannot hold, becomes U+FFFD. */
function wellFormed(_, value) {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), inner]));
}

function report(ev, cell, fields) {
  const at = Number((performance.now() / 1000).toFixed(6));
  // Writing to a pipe is synchronous, so reports come out whole and in order.
  process.stdout.write(`@skewlab ${JSON.stringify({ ev, cell: cell ?? null, at, ...fields }, wellFormed)}\n`);
}

/** The value, unless it is nested too deeply to be written: the client must not see an error of ours. */
function printable(value) {
  try {
    JSON.stringify(value, wellFormed);
    return value;
  } catch (error) {
    return `(${words(error)})`;
  }
}

const words = (value) => (value instanceof Error ? value.message : String(value));
const blame = (error) => ({ type: error?.constructor?.name ?? typeof error, error: words(error).slice(0, LONG) });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const record = (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {});

/** The cell that console output is put down to: two at once are not supported. */
let current = null;
for (const [method, level] of [['warn', 'WARNING'], ['error', 'ERROR']]) {
  console[method] = (...args) => {
    const error = args.find((arg) => arg instanceof Error);
    const said = error ? blame(error) : { type: null, error: null };
    report('log', current, { level, logger: 'console', message: args.map(words).join(' ').slice(0, SHORT), ...said });
  };
}
for (const method of ['log', 'info', 'debug']) {
  console[method] = (...args) => process.stderr.write(`${args.map(words).join(' ')}\n`);
}
// Node would end here. The application goes on, because what reaches it afterwards is asked for too.
for (const where of ['uncaughtException', 'unhandledRejection']) {
  process.on(where, (error) => report('error', current, { where, ...blame(error) }));
}

function textOf(event) {
  const content = record(event.llm_message).content;
  return Array.isArray(content) ? content.map((part) => record(part).text ?? '').join('') : '';
}

/** What the application of the package's documentation would append for a delta: `text += event.content`. */
function shown(content) {
  try {
    return content === undefined || content === null ? '' : String(content);
  } catch (error) {
    return `(${words(error)})`;
  }
}

/** What a report says of a value that reached the callback: any JSON value can, and so can any field be anything. */
function describe(value) {
  const event = record(value);
  const said = { class: null, kind: event.kind ?? null, id: event.id ?? null, source: event.source ?? null };
  if (event.type !== undefined) said.type = event.type;
  const short = (part, limit) => (JSON.stringify(printable(part))?.length ?? 0) <= limit;
  if (event.kind === 'StreamingDeltaEvent') {
    Object.assign(said, { content: event.content ?? null, reasoning: event.reasoning_content ?? null });
    Object.assign(said, { shown: shown(event.content), event: value });
  } else if (short(value, LONG)) {
    said.event = value;
  }
  if (event.kind === 'MessageEvent' && event.source === 'agent') said.text = textOf(event);
  if (event.kind === 'ConversationStateUpdateEvent') {
    said.key = event.key;
    if (short(event.value, SHORT)) said.value = event.value;
  }
  return Object.fromEntries(Object.entries(said).map(([key, part]) => [key, printable(part)]));
}

/** A socket that connects to nothing: a frame that is to be checked goes through the client's own handler. */
class Bench {
  static last = null;
  constructor() {
    Bench.last = this;
  }
  close() {}
}

function packageFolder(given) {
  const folders = [given, path.join(given, 'node_modules', PACKAGE)].map((folder) => path.resolve(folder));
  for (const folder of folders) {
    const file = path.join(folder, 'package.json');
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === PACKAGE) return folder;
  }
  throw new Error(`no ${PACKAGE} in ${folders.join(' or ')}`);
}

async function load(given, shim) {
  if (shim !== 'require' && shim !== 'none') throw new Error(`shim is "require" or "none", not ${JSON.stringify(shim)}`);
  const folder = packageFolder(given);
  const require = createRequire(path.join(folder, 'package.json'));
  const { version, exports } = require('./package.json');
  if (shim === 'require') {
    const choose = { construct: (Real, args) => (new URL(args[0]).hostname === CHECK_HOST ? new Bench() : new Real(...args)) };
    globalThis.require = (name) => (name === 'ws' ? new Proxy(require('ws'), choose) : require(name));
  }
  const entry = exports?.['.']?.import ?? 'dist/index.js';
  const client = await import(pathToFileURL(path.join(folder, entry)).href);
  return { version, client };
}

class Cell {
  conversation = null;
  left = false;
  running = false;
  connected = false;

  constructor(name, client) {
    this.name = name;
    this.client = client;
    this.firstSign = new Promise((resolve) => {
      this.sign = resolve;
    });
  }

  report(ev, fields) {
    if (!this.left) report(ev, this.name, fields);
  }

  heard(value) {
    this.connected = true;
    this.report('callback', { list: 'callback', ...describe(value) });
    const event = record(value);
    if (event.kind !== 'ConversationStateUpdateEvent') return;
    const status = event.key === 'execution_status' ? event.value : record(event.value).execution_status;
    if (status === 'running') this.running = true;
    this.sign('open');
  }

  failed(where, error) {
    this.report('error', { where, ...blame(error) });
    // After a first frame it is about a frame, not about the socket.
    if (!this.connected) this.sign('error');
  }

  async attend(order) {
    const llm = { usage_id: 'agent', model: order.model, api_key: 'sk-skewlab', base_url: order.llm, stream: true, num_retries: 0 };
    try {
      const workspace = new this.client.RemoteWorkspace({ host: order.url, workingDir: order.workdir, apiKey: order.key });
      const agent = { kind: 'Agent', llm: { ...llm, ...order.agent }, tools: [], include_default_tools: [] };
      const conversation = new this.client.RemoteConversation(agent, workspace, {
        conversationId: order.conversation ?? undefined,
        callback: (value) => this.heard(value),
        onError: (error) => this.failed('onError', error),
        onWebSocketError: (error) => this.failed('onWebSocketError', error),
      });
      this.conversation = conversation;
      await conversation.start({ stuckDetection: false, autotitle: false });
      try {
        await conversation.startWebSocketClient();
      } catch (error) {
        this.failed('startWebSocketClient', error);
      }
      // The package has no word for being connected. The server's first frame says it; an error says that it will not be.
      const socket = await Promise.race([this.firstSign, pause(READY_MS).then(() => 'silent')]);
      this.report('ready', { conversation: conversation.id, socket, lists: { callback: 'given' } });
    } catch (error) {
      this.report('failed', blame(error));
    }
  }

  async say(order) {
    const start = performance.now();
    const seconds = () => Number(((performance.now() - start) / 1000).toFixed(3));
    try {
      if (!this.conversation) throw new Error('there is no conversation: attend failed');
      this.running = false;
      await this.conversation.sendMessage(order.text);
      if (order.run === false) return this.report('said', { seconds: seconds() });
      await this.conversation.run();
      // run() only gives the order. The end is asked for, as the package's own documentation has it.
      const asked = performance.now();
      for (;;) {
        const info = await this.conversation.state.refresh();
        const status = info.execution_status ?? info.agent_status;
        if (status === 'running') this.running = true;
        const stale = !this.running && performance.now() - asked < STALE_MS;
        if (this.left) return undefined;
        if (ENDS.includes(status) && !stale) return this.report('ran', { status, seconds: seconds() });
        await pause(POLL_MS);
      }
    } catch (error) {
      return this.report('raised', blame(error));
    }
  }

  async look(known) {
    if (!this.conversation) return;
    known.unfinished = 'events';
    const kinds = {};
    for (const value of await this.conversation.state.events.getEvents()) {
      const event = record(value);
      const kind = String(event.kind ?? event.type ?? null);
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      if (event.kind === 'MessageEvent' && event.source === 'agent') known.final = textOf(event);
    }
    Object.assign(known, { events: kinds, unfinished: 'status' });
    known.status = await this.conversation.state.getExecutionStatus();
    known.unfinished = null;
  }

  async leave(ms = LEAVE_MS) {
    const known = { events: {}, final: '', status: null, unfinished: 'attend' };
    try {
      await Promise.race([this.look(known), pause(ms)]);
    } catch (error) {
      Object.assign(known, blame(error));
    }
    this.report('left', { ...known });
    this.left = true;
    try {
      await this.conversation?.close();
    } catch (error) {
      report('log', this.name, { level: 'ERROR', logger: 'skewlab', message: 'close failed', ...blame(error) });
    }
  }
}

/** One frame through a client of its own, so that no frame is a duplicate of another. */
async function check(order, client) {
  const said = { name: order.name ?? null, outcome: 'rejected', class: null, kind: null, type: null, error: null };
  Object.assign(said, { content: null, reasoning: null, shown: null });
  const workspace = new client.RemoteWorkspace({ host: `http://${CHECK_HOST}`, workingDir: '/', apiKey: 'k' });
  const errors = [];
  const conversation = new client.RemoteConversation({ kind: 'Agent' }, workspace, {
    conversationId: 'check',
    callback: (value) => {
      const { kind, content = null, reasoning = null, shown: text = null } = describe(value);
      Object.assign(said, { outcome: 'accepted', kind, content, reasoning, shown: text });
    },
    onError: (error) => errors.push(error),
  });
  Bench.last = null;
  await conversation.startWebSocketClient();
  if (!Bench.last) throw new Error(`a frame cannot be checked without a socket: ${errors.map(words).join('; ') || 'no shim'}`);
  Bench.last.onmessage({ data: order.raw });
  // The cache complains a turn of the loop later.
  await new Promise((resolve) => setImmediate(resolve));
  await conversation.stopWebSocketClient();
  if (errors.length > 0) Object.assign(said, blame(errors[0]), { errors: errors.length });
  report('checked', order.cell, said);
}

async function obey(order, cells, client) {
  const cell = cells.get(order.cell);
  if (order.do === 'check') await check(order, client);
  else if (order.do === 'attend' && !cell) {
    const fresh = new Cell(order.cell, client);
    cells.set(order.cell, fresh);
    current = order.cell;
    fresh.ready = fresh.attend(order);
  } else if (order.do === 'say' && cell) {
    void cell.ready.then(() => cell.say(order));
  } else if (order.do === 'leave' && cell) {
    cells.delete(order.cell);
    void cell.leave();
  } else {
    throw new Error(`cannot ${JSON.stringify(order.do)} for cell ${JSON.stringify(order.cell)}: attended are ${[...cells.keys()]}`);
  }
}

async function main() {
  const begun = performance.now();
  let loaded;
  try {
    loaded = await load(process.argv[2] ?? '.', process.argv[3]);
  } catch (error) {
    report('failed', null, blame(error));
    process.exit(1);
  }
  const { version, client } = loaded;
  const importS = Number(((performance.now() - begun) / 1000).toFixed(3));
  const hello = { package: PACKAGE, version, stages: '', shim: process.argv[3], import_s: importS };
  report('hello', null, { ...hello, epoch: performance.timeOrigin / 1000 });
  const cells = new Map();
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    let order;
    try {
      order = JSON.parse(line);
      if (order.do === 'quit') break;
      await obey(order, cells, client);
    } catch (error) {
      report('refused', order?.cell, blame(error));
    }
  }
  await Promise.all([...cells.values()].map((cell) => cell.leave(QUIT_MS)));
  process.exit(0);
}

await main();
