/** Requests to an MCP endpoint with every byte chosen by the test, and answers read as they came. */
import { createParser } from 'eventsource-parser';

export interface RpcMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The messages of the body, whether it is one of JSON or a stream of events. */
  readonly messages: readonly RpcMessage[];
  /** The one that answers. */
  readonly answer: RpcMessage | undefined;
}

export const REVISION = '2025-11-25';
/** How long an answer may take to end. */
const LIMIT_MS = 15_000;

/** POSTs a body: text as it is, anything else as JSON. Resolves when the answer begins. */
export function send(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
}

/** POSTs a body and waits for the end of the answer. */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  return readAnswer(await send(url, body, headers));
}

/** Reads an answer to its end. */
export async function readAnswer(response: Response): Promise<RawAnswer> {
  const body = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const messages = type.includes('event-stream') ? parseEvents(body) : parseJson(body);
  return {
    status: response.status,
    headers: response.headers,
    body,
    messages,
    answer: messages.find(message => 'result' in message || 'error' in message),
  };
}

function parseEvents(body: string): RpcMessage[] {
  const messages: RpcMessage[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '') messages.push(JSON.parse(data) as RpcMessage);
    },
  });
  parser.feed(body);
  return messages;
}

function parseJson(body: string): RpcMessage[] {
  return body === '' ? [] : [JSON.parse(body) as RpcMessage];
}

export interface RawSession {
  /** Headers of every later request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Result of `initialize`. */
  readonly initialized: Readonly<Record<string, unknown>>;
  request(method: string, params?: object): Promise<RawAnswer>;
  notify(method: string, params?: object): Promise<RawAnswer>;
  callTool(name: string, args?: object, meta?: object): Promise<RawAnswer>;
}

/** Opens a session as a client does. */
export async function openRawSession(
  url: string,
  { revision = REVISION, capabilities = {} }: { revision?: string; capabilities?: object } = {},
): Promise<RawSession> {
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion: revision, capabilities, clientInfo };
  const opened = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const initialized = opened.answer?.result ?? {};
  const headers = {
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': String(initialized['protocolVersion']),
  };
  let id = 1;
  const request: RawSession['request'] = (method, more) => {
    id += 1;
    return post(url, { jsonrpc: '2.0', id, method, params: more }, headers);
  };
  const notify: RawSession['notify'] = (method, more) =>
    post(url, { jsonrpc: '2.0', method, params: more }, headers);
  await notify('notifications/initialized');
  return {
    headers,
    initialized,
    request,
    notify,
    callTool: (name, args = {}, meta) =>
      request('tools/call', { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) }),
  };
}
