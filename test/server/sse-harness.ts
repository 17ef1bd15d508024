/** An MCPServer behind HTTP+SSE, entered in each way there is, and a raw client that looks the same for all. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HonoContextLike } from '@mastra/core/mcp';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig, MCPServerHTTPSecurityOptions } from '../../src/server/index.ts';
import { connectRaw, initialize, Received, toAuthInfo, toWire } from './http-harness.ts';
import type { RpcAnswer, Sent } from './http-harness.ts';

/**
 * `node`: `startSSE` behind node:http. `hono`: a context as Hono has it, with the request in it. `bare`: a context with
 * nothing but what core promises, which does not tell the method.
 */
export const entrances = ['node', 'hono', 'bare'] as const;
export type Entrance = (typeof entrances)[number];

export const BACKLOG: MCPServerHTTPSecurityOptions = {
  keepAliveMs: 0,
  limits: { maxStreamBacklog: { messages: 8, bytes: 1 << 16 } },
};

export interface HarnessInit {
  readonly config?: Partial<MCPServerConfig>;
  readonly options?: MCPServerHTTPSecurityOptions;
  readonly messagePath?: string;
  /** Runs before the server sees a context, as a middleware does. */
  readonly middleware?: (context: HonoContextLike) => Promise<void>;
}

/** A run of the tool `wait`. */
export interface Waiting {
  readonly aborted: Promise<void>;
  finish(): void;
}

export interface SseHarness extends AsyncDisposable {
  readonly server: MCPServer;
  readonly port: number;
  send(sent: Sent): Promise<Received>;
  /** Opens a stream. */
  connect(more?: { readonly user?: string; readonly headers?: Record<string, string> }): Promise<SseClient>;
  /** The next run of `wait` that no one has taken yet. */
  waiting(): Promise<Waiting>;
}

/** One open stream and the POSTs that belong to it. */
export class SseClient {
  readonly endpoint: string;
  readonly stream: Received;
  readonly #send: (sent: Sent) => Promise<Received>;
  readonly #user: string | undefined;
  readonly #unread: RpcAnswer[] = [];

  constructor(
    endpoint: string,
    stream: Received,
    send: (sent: Sent) => Promise<Received>,
    user: string | undefined,
  ) {
    this.endpoint = endpoint;
    this.stream = stream;
    this.#send = send;
    this.#user = user;
  }

  get id(): string {
    return new URL(this.endpoint, 'http://x').searchParams.get('sessionId') ?? '';
  }

  post(body: unknown, more: Omit<Sent, 'body' | 'path'> = {}): Promise<Received> {
    const user = this.#user === undefined ? {} : { user: this.#user };
    return this.#send({ path: this.endpoint, body, ...user, ...more });
  }

  /** Sends a request and gives what answers it; other messages wait for `message`. */
  async request(message: { readonly id: unknown } & object): Promise<RpcAnswer> {
    const answer = await this.post(message);
    if (answer.status !== 202) throw new Error(`Answered with ${answer.status}: ${await answer.text()}`);
    await answer.text();
    return this.answerTo(message.id);
  }

  async answerTo(id: unknown): Promise<RpcAnswer> {
    for (;;) {
      const next = await this.stream.message();
      if (next.id === id && next.method === undefined) return next;
      this.#unread.push(next);
    }
  }

  /** The next message that answers no `request`. */
  async message(): Promise<RpcAnswer> {
    return this.#unread.shift() ?? (await this.stream.message());
  }

  async initialize(more: { revision?: string; capabilities?: object } = {}): Promise<RpcAnswer> {
    const answer = await this.request({ ...initialize({ ...more, id: 'init' }), id: 'init' });
    await (await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).text();
    return answer;
  }
}

/** The text that a tool gave. */
export function textOf(answer: RpcAnswer): string | undefined {
  return answer.result?.content?.[0]?.text;
}

export async function startSse(entrance: Entrance, init: HarnessInit = {}): Promise<SseHarness> {
  const { tools, waiting } = createTools();
  const server = new MCPServer({ name: 'legacy', version: '1', tools, ...init.config });
  const { port, send, close } = await serve(server, entrance, init);
  return {
    server,
    port,
    send,
    waiting,
    async connect({ user, headers } = {}) {
      const more = { ...(user === undefined ? {} : { user }), ...(headers === undefined ? {} : { headers }) };
      const stream = await send({ method: 'GET', path: '/sse', ...more });
      if (stream.status !== 200) throw new Error(`No stream: ${stream.status} ${await stream.text()}`);
      const first = await stream.event();
      if (first?.event !== 'endpoint') throw new Error(`Begins with ${JSON.stringify(first)}`);
      return new SseClient(first.data ?? '', stream, send, user);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await close();
    },
  };
}

/** The members of a Hono context that the server can meet. */
export function toContext(request: Request): HonoContextLike {
  const url = new URL(request.url);
  return Object.assign(toBareContext(request, url), {
    req: { ...toBareContext(request, url).req, raw: request, method: request.method },
    body: (body: ReadableStream | null, status: number, headers: Record<string, string>) =>
      new Response(body, { status, headers: { 'x-set-before': 'yes', ...headers } }),
  });
}

function toBareContext(request: Request, url: URL): HonoContextLike {
  return {
    req: {
      header: name => request.headers.get(name) ?? undefined,
      query: name => url.searchParams.get(name) ?? undefined,
      json: () => request.json(),
    },
    text: (text, status = 200, headers = {}) =>
      new Response(text, { status, headers: { 'x-set-before': 'yes', ...headers } }),
  };
}

interface Served {
  readonly port: number;
  send(sent: Sent): Promise<Received>;
  close(): Promise<void>;
}

function serve(server: MCPServer, entrance: Entrance, init: HarnessInit): Promise<Served> | Served {
  return entrance === 'node' ? serveNode(server, init) : serveContexts(server, entrance === 'bare', init);
}

async function serveNode(server: MCPServer, { options, messagePath = '/messages' }: HarnessInit) {
  const host = createServer((req, res) => {
    Object.assign(req, { auth: toAuthInfo(req.headers['x-user'] as string | undefined) });
    const url = new URL(req.url ?? '/', 'http://127.0.0.1');
    const paths = { url, ssePath: '/sse', messagePath };
    void server.startSSE({ ...paths, req, res, ...(options === undefined ? {} : { options }) });
  });
  await once(host.listen(0, '127.0.0.1'), 'listening');
  const { port } = host.address() as AddressInfo;
  const raw = connectRaw(port);
  return {
    port,
    send: (sent: Sent) => raw.send(sent),
    async close() {
      raw[Symbol.dispose]();
      const closed = once(host, 'close');
      host.close();
      host.closeAllConnections();
      await closed;
    },
  };
}

function serveContexts(server: MCPServer, bare: boolean, init: HarnessInit): Served {
  const { options, messagePath = '/messages', middleware } = init;
  return {
    port: 80,
    async send(sent) {
      const { method, headers, body } = toWire(sent);
      const url = new URL(sent.path ?? '/', 'http://127.0.0.1');
      const abort = new AbortController();
      const facts = { method, headers: { host: url.host, ...headers }, signal: abort.signal };
      const request = new Request(url, { ...facts, ...(body === undefined ? {} : { body }) });
      const context = bare ? toBareContext(request, url) : toContext(request);
      await middleware?.(context);
      const response = await server.startHonoSSE({
        url,
        ssePath: '/sse',
        messagePath,
        context,
        authInfo: toAuthInfo(sent.user),
        ...(options === undefined ? {} : { options }),
      });
      const { chunks, cancel } = decode(response.body);
      const drop = bare ? cancel : () => abort.abort();
      return new Received(response.status, Object.fromEntries(response.headers), chunks, drop);
    },
    close: () => Promise.resolve(),
  };
}

function decode(body: ReadableStream<Uint8Array> | null): {
  chunks: AsyncIterable<string>;
  cancel: () => void;
} {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  const read = async (): Promise<IteratorResult<string>> => {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return { done: true, value: undefined };
    return { done: false, value: decoder.decode(value, { stream: true }) };
  };
  return {
    chunks: { [Symbol.asyncIterator]: () => ({ next: read }) },
    cancel: () => void reader?.cancel(),
  };
}

function createTools() {
  const runs: Waiting[] = [];
  const wanted: ((run: Waiting) => void)[] = [];
  const echo = createTool({
    id: 'echo',
    description: 'Gives the text back',
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => text,
  });
  const who = createTool({
    id: 'who',
    description: 'Says who calls, and in which session',
    execute: async (_input, { mcp }) => {
      const { authInfo, sessionId } = mcp?.extra ?? {};
      return JSON.stringify([(authInfo as { extra?: { sub?: string } } | undefined)?.extra?.sub, sessionId]);
    },
  });
  const ask = createTool({
    id: 'ask',
    description: 'Asks the caller',
    inputSchema: z.object({ question: z.string() }),
    execute: async ({ question }, { mcp }) => {
      const answer = await mcp?.elicitation.sendRequest({
        message: question,
        requestedSchema: { type: 'object', properties: { reply: { type: 'string' } } },
      });
      return String(answer?.content?.['reply']);
    },
  });
  const steps = createTool({
    id: 'steps',
    description: 'Reports progress',
    inputSchema: z.object({ count: z.number() }),
    execute: async ({ count }, { mcp }) => {
      for (let progress = 1; progress <= count; progress += 1) await mcp?.progress?.({ progress });
      return 'done';
    },
  });
  const wait = createTool({
    id: 'wait',
    description: 'Runs until it is finished or aborted',
    execute: (_input, { mcp }) =>
      new Promise<string>(resolve => {
        const aborted = new Promise<void>(onAbort => {
          mcp?.extra.signal.addEventListener('abort', () => {
            onAbort();
            resolve('aborted');
          });
        });
        const run: Waiting = { aborted, finish: () => resolve('finished') };
        const next = wanted.shift();
        if (next === undefined) runs.push(run);
        else next(run);
      }),
  });
  const waiting = (): Promise<Waiting> => {
    const run = runs.shift();
    return run === undefined ? new Promise(resolve => wanted.push(resolve)) : Promise.resolve(run);
  };
  return { tools: { echo, who, ask, steps, wait }, waiting };
}
