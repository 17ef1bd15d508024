/** A Streamable HTTP server with sessions in this process: it answers as told, asks, tells, and forgets its sessions. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { startHttp, sendJson, startEvents, type HttpTestServer, type RpcMessage } from './http-server.ts';
import { until } from './processes.ts';

type Params = Readonly<Record<string, unknown>>;

/** What an answer may reject with to become a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message = 'no', data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface Script {
  /** @defaultValue everything that a server can declare */
  readonly capabilities?: object;
  /** Results by method; one that throws `RpcError` is an error, one that never settles is silence. */
  readonly answers?: Readonly<Record<string, (params: Params, session: string) => unknown>>;
}

/** The answer of a client to a request. */
export interface ClientAnswer {
  readonly result?: Params;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface ScriptedServer extends HttpTestServer {
  readonly url: string;
  /** Params of all requests and notifications of this method so far, in order. */
  received(method: string): readonly Params[];
  /** Tells every session. */
  notify(method: string, params?: object): Promise<void>;
  /** Asks the session that was opened last. */
  ask(method: string, params?: object): Promise<ClientAnswer>;
  /** Takes a request back that was sent by `ask` as the last one. */
  takeBack(): Promise<void>;
  /** Answers 404 to the sessions that are open now. */
  forget(): void;
}

const EVERYTHING = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

export async function startScripted({
  capabilities = EVERYTHING,
  answers = {},
}: Script = {}): Promise<ScriptedServer> {
  const streams = new Map<string, ReturnType<typeof startEvents> | undefined>();
  const waiting = new Map<unknown, (answer: ClientAnswer) => void>();
  let asked = 0;

  const initialize = ({ id, params }: RpcMessage, response: ServerResponse): void => {
    const session = randomUUID();
    streams.set(session, undefined);
    const { protocolVersion } = params ?? {};
    const result = { protocolVersion, capabilities, serverInfo: { name: 'scripted', version: '1.0.0' } };
    sendJson(response, 200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': session });
  };
  const resultOf = async ({ method = '', params = {} }: RpcMessage, session: string): Promise<object> => {
    const answer = answers[method];
    if (answer !== undefined) return { result: (await answer(params, session)) ?? {} };
    if (method === 'tools/list')
      return { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } };
    if (method === 'tools/call') return { result: { content: [{ type: 'text', text: 'ok' }] } };
    return { result: {} };
  };

  const http = await startHttp(async ({ method, headers, message }, response) => {
    if (message?.method === 'initialize') return initialize(message, response);
    const session = String(headers['mcp-session-id']);
    if (!streams.has(session)) return response.writeHead(404).end();
    if (method === 'GET') return streams.set(session, startEvents(response));
    if (method === 'DELETE') return response.writeHead(streams.delete(session) ? 200 : 404).end();
    if (message?.method === undefined) {
      waiting.get(message?.id)?.(message as ClientAnswer);
      return response.writeHead(202).end();
    }
    if (message.id === undefined) return response.writeHead(202).end();
    const body = await resultOf(message, session).catch(({ code, message: text, data }: RpcError) => ({
      error: { code, message: text, data },
    }));
    return sendJson(response, 200, { jsonrpc: '2.0', id: message.id, ...body });
  });

  const streamOf = async (session: string): Promise<ReturnType<typeof startEvents>> => {
    await until('the client has opened its stream', () => streams.get(session) !== undefined);
    return streams.get(session) as ReturnType<typeof startEvents>;
  };
  const lastStream = (): Promise<ReturnType<typeof startEvents>> =>
    streamOf([...streams.keys()].at(-1) ?? '');
  return Object.assign(http, {
    url: `${http.origin}/mcp`,
    received: (method: string) =>
      http.requests.flatMap(({ message }) => (message?.method === method ? [message.params ?? {}] : [])),
    notify: async (method: string, params?: object) => {
      for (const session of streams.keys()) (await streamOf(session))({ jsonrpc: '2.0', method, params });
    },
    ask: async (method: string, params?: object) => {
      const id = `ask-${(asked += 1)}`;
      const answer = new Promise<ClientAnswer>(resolve => waiting.set(id, resolve));
      (await lastStream())({ jsonrpc: '2.0', id, method, params });
      return answer;
    },
    takeBack: async () => {
      const params = { requestId: `ask-${asked}` };
      (await lastStream())({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    },
    forget: () => streams.clear(),
  });
}
