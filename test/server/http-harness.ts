/** StreamableHTTP with real sessions behind one of its two adapters, and a raw client that looks the same for both. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { principalOf } from '../../src/server/calls/authorization.ts';
import type { CallContext, CallHandler } from '../../src/server/calls/call-context.ts';
import { CallGate } from '../../src/server/calls/call-gate.ts';
import { FetchExchange } from '../../src/server/http/fetch-exchange.ts';
import { DEFAULT_HTTP_SETTINGS, resolveHTTPSecurity } from '../../src/server/http/http-options.ts';
import type {
  MCPServerHTTPSecurityOptions,
  StreamableHTTPServerTransportOptions,
} from '../../src/server/http/http-options.ts';
import { NodeExchange } from '../../src/server/http/node-exchange.ts';
import { Session } from '../../src/server/sessions/session-binding.ts';
import type { SessionBinding } from '../../src/server/sessions/session-binding.ts';
import { StreamableHTTP } from '../../src/server/transports/streamable-http.ts';

export const adapters = ['node', 'fetch'] as const;
export type Adapter = (typeof adapters)[number];

export const ACCEPT = 'application/json, text/event-stream';
const REVISION = '2025-11-25';

/** A call of the tool `wait`: runs until the test ends it or its signal does. */
export interface WaitingCall {
  readonly call: CallContext;
  readonly aborted: Promise<void>;
  finish(text?: string): void;
}

/** What the tools of the harness saw and are waiting for. */
export class Tools {
  readonly calls: CallContext[] = [];
  readonly #waiting: WaitingCall[] = [];
  readonly #wanted: ((call: WaitingCall) => void)[] = [];

  readonly handlers: ReadonlyMap<string, CallHandler> = new Map<string, CallHandler>([
    ['tools/list', async () => ({ tools: [] })],
    ['tools/call', (params, call) => this.#call(params as ToolParams, call)],
  ]);

  /** The next call of `wait` that no one has taken yet. */
  waiting(): Promise<WaitingCall> {
    const call = this.#waiting.shift();
    if (call !== undefined) return Promise.resolve(call);
    return new Promise(resolve => this.#wanted.push(resolve));
  }

  async #call({ name, arguments: args = {} }: ToolParams, call: CallContext): Promise<object> {
    this.calls.push(call);
    switch (name) {
      case 'echo':
        return text(String(args['text']));
      case 'progress':
        for (let progress = 1; progress <= Number(args['times']); progress += 1)
          await call.emit({
            kind: 'progress',
            progress,
          });
        return text('done');
      case 'ask': {
        const answer = await call.wire.request(
          'elicitation/create',
          { message: 'really?', requestedSchema: { type: 'object', properties: {} } },
          { timeoutMs: 5000, signal: call.signal },
        );
        return text(JSON.stringify(answer));
      }
      case 'wait':
        return this.#wait(call);
      default:
        return text('unknown');
    }
  }

  #wait(call: CallContext): Promise<object> {
    return new Promise(resolve => {
      const aborted = new Promise<void>(onAbort => {
        call.signal.addEventListener('abort', () => {
          onAbort();
          resolve(text('aborted'));
        });
      });
      const waiting: WaitingCall = { call, aborted, finish: (value = 'finished') => resolve(text(value)) };
      const wanted = this.#wanted.shift();
      if (wanted === undefined) this.#waiting.push(waiting);
      else wanted(waiting);
    });
  }
}

interface ToolParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

function text(value: string): object {
  return { content: [{ type: 'text', text: value }] };
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  /** Text and bytes as they are; anything else as JSON. */
  readonly body?: unknown;
  /** The caller's subject, as a middleware would find it out. */
  readonly user?: string;
}

export interface SseEvent {
  readonly event?: string;
  readonly id?: string;
  readonly retry?: string;
  readonly data?: string;
}

/** One answer, read piece by piece. */
export class Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly drop: () => void;
  readonly #chunks: AsyncIterator<string>;
  #buffer = '';

  constructor(
    status: number,
    headers: Record<string, string>,
    chunks: AsyncIterable<string>,
    drop: () => void,
  ) {
    this.status = status;
    this.headers = headers;
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.drop = drop;
  }

  /** Everything that is left, when the answer has ended. */
  async text(): Promise<string> {
    let all = this.#buffer;
    for (;;) {
      const next = await this.#chunks.next();
      if (next.done === true) return all;
      all += next.value;
    }
  }

  async json(): Promise<RpcAnswer> {
    return JSON.parse(await this.text()) as RpcAnswer;
  }

  /** The next event of a stream, comments left out; `undefined` at its end. */
  async event(): Promise<SseEvent | undefined> {
    for (let frame = await this.#frame(); frame !== undefined; frame = await this.#frame()) {
      const fields = frame
        .split('\n')
        .filter(line => !line.startsWith(':'))
        .map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]);
      if (fields.length > 0) return Object.fromEntries(fields) as SseEvent;
    }
    return undefined;
  }

  /** The next comment of a stream, events left out; `undefined` at its end. */
  async comment(): Promise<string | undefined> {
    let frame = await this.#frame();
    while (frame !== undefined && !frame.startsWith(':')) frame = await this.#frame();
    return frame;
  }

  async #frame(): Promise<string | undefined> {
    for (;;) {
      const end = this.#buffer.indexOf('\n\n');
      if (end !== -1) {
        const frame = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + 2);
        return frame;
      }
      const next = await this.#chunks.next().catch(() => ({ done: true as const, value: undefined }));
      if (next.done === true) return undefined;
      this.#buffer += next.value;
    }
  }

  /** The messages of a stream up to its end. */
  async messages(): Promise<RpcAnswer[]> {
    const messages: RpcAnswer[] = [];
    for (let event = await this.event(); event !== undefined; event = await this.event())
      if (event.data !== undefined && event.data !== '') messages.push(JSON.parse(event.data) as RpcAnswer);
    return messages;
  }

  /** The next message of a stream. */
  async message(): Promise<RpcAnswer & { eventId?: string }> {
    for (;;) {
      const event = await this.event();
      if (event === undefined) throw new Error('The stream has ended');
      if (event.data !== undefined && event.data !== '')
        return {
          ...(JSON.parse(event.data) as RpcAnswer),
          ...(event.id === undefined ? {} : { eventId: event.id }),
        };
    }
  }
}

export interface RpcAnswer {
  readonly jsonrpc?: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown> & { content?: { text: string }[] };
  readonly error?: { code: number; message: string; data?: unknown };
}

export interface HarnessInit {
  readonly security?: MCPServerHTTPSecurityOptions;
  readonly options?: StreamableHTTPServerTransportOptions;
  readonly openAfterMs?: number;
  /** Runs before the exchange is made, as a middleware does. */
  readonly middleware?: (req: http.IncomingMessage) => Promise<void> | void;
  /** Runs when `handle` has resolved. */
  readonly onHandled?: (res: http.ServerResponse) => void;
}

/** A client that says exactly what a test tells it to. */
export interface RawClient {
  send(sent: Sent): Promise<Received>;
  /** Drops every connection at once, also where no answer has begun. */
  dropConnections(): void;
  /** POSTs one message. */
  post(message: unknown, headers?: Record<string, string>, user?: string): Promise<Received>;
  /** Initializes a session and gives the headers of its later requests. */
  open(more?: { user?: string; revision?: string; capabilities?: object }): Promise<Record<string, string>>;
}

export interface Harness extends RawClient, AsyncDisposable {
  readonly http: StreamableHTTP;
  readonly tools: Tools;
  readonly logs: readonly string[];
  /** Host of the server, as a client names it. */
  readonly host: string;
  readonly port: number;
}

const everything = { tools: { listChanged: true }, logging: {} };

export async function startHarness(adapter: Adapter, init: HarnessInit = {}): Promise<Harness> {
  const tools = new Tools();
  const logs: string[] = [];
  const log = (message: string, ...rest: unknown[]): void => {
    logs.push(
      [
        message,
        ...rest.map(value => (value instanceof Error ? `${value.name} ${value.message}` : String(value))),
      ].join(' '),
    );
  };
  const binding: SessionBinding = {
    serverInfo: { name: 'harness', version: '1' },
    instructions: undefined,
    handlers: tools.handlers,
    capabilities: {
      session: everything,
      stateless: { tools: {} },
      'stateless-streaming': { tools: {} },
      stdio: everything,
    },
    askTimeoutMs: 5000,
    gate: new CallGate(),
    onError: log,
  };
  const settings = resolveHTTPSecurity(init.security ?? {}, {
    ...DEFAULT_HTTP_SETTINGS,
    stream: { ...DEFAULT_HTTP_SETTINGS.stream, openAfterMs: init.openAfterMs ?? 5000 },
  });
  const streamable = new StreamableHTTP({
    createSession: session => new Session(session, binding),
    principalOf,
    settings,
    logger: () => ({ debug: log, warn: log, error: log }),
  });
  const wire = adapter === 'node' ? await serveNode(streamable, init) : serveFetch(streamable, init);
  return makeHarness(streamable, tools, logs, wire);
}

interface Wire {
  readonly port: number;
  drop(): void;
  send(sent: Sent): Promise<Received>;
  close(): Promise<void>;
}

function makeHarness(streamable: StreamableHTTP, tools: Tools, logs: string[], wire: Wire): Harness {
  return {
    http: streamable,
    tools,
    logs,
    port: wire.port,
    host: `127.0.0.1:${wire.port}`,
    ...makeClient(wire),
    async [Symbol.asyncDispose]() {
      await streamable.close();
      await wire.close();
    },
  };
}

/** A raw client of a server at `/mcp` on this port of the loopback interface. */
export function connectRaw(port: number): RawClient & Disposable {
  const wire = nodeWire(port);
  return { ...makeClient(wire), [Symbol.dispose]: () => wire.drop() };
}

function makeClient(wire: Pick<Wire, 'send' | 'drop'>): RawClient {
  const post: RawClient['post'] = (message, headers = {}, user) =>
    wire.send({ headers, body: message, ...(user === undefined ? {} : { user }) });
  return {
    send: sent => wire.send(sent),
    dropConnections: () => wire.drop(),
    post,
    async open({ user, revision = REVISION, capabilities = {} } = {}) {
      const answer = await post(initialize({ revision, capabilities }), {}, user);
      const id = answer.headers['mcp-session-id'];
      await answer.text();
      if (id === undefined) throw new Error(`No session: ${answer.status}`);
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': revision };
      await (await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers, user)).text();
      return headers;
    },
  };
}

export function initialize(
  more: { revision?: string; capabilities?: object; id?: number | string } = {},
): object {
  const { revision = REVISION, capabilities = {}, id = 1 } = more;
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion: revision, capabilities, clientInfo: { name: 'raw', version: '1' } },
  };
}

export function callTool(id: number | string, name: string, args: object = {}, meta?: object): object {
  return {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
  };
}

/** What a middleware would find out about a caller; each request has a token of its own. */
export function toAuthInfo(user: string | undefined): object | undefined {
  return user === undefined
    ? undefined
    : { token: `token-of-${user}-${Math.random()}`, clientId: 'app', scopes: [], extra: { sub: user } };
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> | undefined {
  return body === undefined || typeof body === 'string' || body instanceof Uint8Array;
}

export function toWire({ method = 'POST', headers, body, user }: Sent): {
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
} {
  return {
    method,
    headers: {
      accept: method === 'GET' ? 'text/event-stream' : ACCEPT,
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...(user === undefined ? {} : { 'x-user': user }),
      ...headers,
    },
    body: isRaw(body) ? body : JSON.stringify(body),
  };
}

async function serveNode(streamable: StreamableHTTP, init: HarnessInit): Promise<Wire> {
  const server = http.createServer((req, res) => {
    void (async () => {
      Object.assign(req, { auth: toAuthInfo(req.headers['x-user'] as string | undefined) });
      await init.middleware?.(req);
      await streamable.handle(new NodeExchange(req, res), '/mcp', init.options);
      init.onHandled?.(res);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { drop, send } = nodeWire(port);
  return {
    port,
    drop,
    send,
    async close() {
      drop();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function nodeWire(port: number): Pick<Wire, 'send' | 'drop'> {
  const agent = new http.Agent({ keepAlive: true });
  return {
    drop: () => agent.destroy(),
    send(sent) {
      const { method, headers, body } = toWire(sent);
      return new Promise((resolve, reject) => {
        const request = http.request(
          { host: '127.0.0.1', port, path: sent.path ?? '/mcp', method, headers, agent },
          response => {
            response.setEncoding('utf8');
            resolve(
              new Received(
                response.statusCode ?? 0,
                response.headers as Record<string, string>,
                response,
                () => request.destroy(),
              ),
            );
          },
        );
        request.on('error', reject);
        request.end(body);
      });
    },
  };
}

function serveFetch(streamable: StreamableHTTP, init: HarnessInit): Wire {
  const open = new Set<AbortController>();
  return {
    port: 80,
    drop: () => open.forEach(abort => abort.abort()),
    async send(sent) {
      const { method, headers, body } = toWire(sent);
      const abort = new AbortController();
      open.add(abort);
      const request = new Request(`http://127.0.0.1:80${sent.path ?? '/mcp'}`, {
        method,
        headers,
        signal: abort.signal,
        ...(body === undefined ? {} : { body }),
      });
      const exchange = new FetchExchange(request, { authInfo: toAuthInfo(sent.user) });
      void streamable.handle(exchange, '/mcp', init.options);
      const response = await exchange.response;
      return new Received(response.status, Object.fromEntries(response.headers), decode(response.body), () =>
        abort.abort(),
      );
    },
    close: () => Promise.resolve(),
  };
}

async function* decode(body: ReadableStream<Uint8Array> | null): AsyncIterable<string> {
  if (body === null) return;
  const decoder = new TextDecoder();
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
}

/** Waits, with a bound, until `check` holds. */
export async function until(check: () => boolean, what: string, ms = 5000): Promise<void> {
  const end = performance.now() + ms;
  while (!check()) {
    if (performance.now() > end) throw new Error(`Not in ${ms} ms: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
