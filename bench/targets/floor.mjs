// Target "floor": hand-written peers without any MCP library: node:http or pipes, JSON in and out, no checks. They
// drive the servers and answer the clients under test, and show what no implementation can go below.
import { spawn } from 'node:child_process';
import http from 'node:http';
import { answerCall, wireTool, wireTools } from '../tools.mjs';

const REVISION = '2025-06-18';
const IDENTITY = { name: 'bench', version: '1.0.0' };
const INITIALIZE = { protocolVersion: REVISION, capabilities: {}, clientInfo: IDENTITY };
const HELLO = { capabilities: { tools: {} }, serverInfo: IDENTITY };
const copyMessage = message => JSON.parse(JSON.stringify(message));

export function serve({ tools: count = 0, output = false } = {}) {
  const tools = wireTools(Array.from({ length: count }, (_, i) => wireTool(i, { output, reused: 'ref' })));
  const list = JSON.stringify({ tools });
  const result = ({ method, params }) => {
    if (method === 'tools/list') return list;
    if (method === 'tools/call') return JSON.stringify(answerCall(params));
    return JSON.stringify(
      method === 'initialize' ? { ...HELLO, protocolVersion: params.protocolVersion } : {},
    );
  };
  const reply = message => `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result(message)}}`;
  let sessions = 0;
  return {
    startStdio: () =>
      readLines(process.stdin, message => {
        if (message.id !== undefined) process.stdout.write(`${reply(message)}\n`);
      }),
    async handle(req, res, url) {
      if (req.method !== 'POST') return res.writeHead(405).end();
      const message = JSON.parse(await readAll(req));
      if (message.id === undefined) return res.writeHead(202).end();
      const body = reply(message);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      if (message.method === 'initialize' && url.pathname !== '/serverless')
        headers['mcp-session-id'] = `bench-${++sessions}`;
      return res.writeHead(200, headers).end(body);
    },
    async connectMemory(transport) {
      transport.onmessage = async message =>
        message.id === undefined || transport.send(JSON.parse(reply(message)));
    },
  };
}

/** To a URL, to a stdio server, or to `server` in this process, with messages copied as a wire would or not. */
export async function connect({ url, command, args, server, copy = copyMessage }) {
  const open = url ? httpPeer : command ? stdioPeer : memoryPeer;
  const peer = await open({ url, command, args, server, copy });
  const request = async (method, params) => {
    const message = await peer.request(method, params);
    if (message.error) throw new Error(`${method}: ${JSON.stringify(message.error).slice(0, 300)}`);
    return message.result;
  };
  // A serverless server has no session to open.
  if (!url?.endsWith('/serverless')) {
    await request('initialize', INITIALIZE);
    await peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }
  return {
    call: (name, input) => request('tools/call', { name, arguments: input }),
    list: async () => (await request('tools/list', {})).tools,
    close: () => peer.close(),
  };
}

function httpPeer({ url }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const accept = 'application/json, text/event-stream';
  const headers = { 'content-type': 'application/json', accept, 'mcp-protocol-version': REVISION };
  const send = message =>
    new Promise((resolve, reject) => {
      const req = http.request(url, { agent, method: 'POST', headers }, res => {
        const session = res.headers['mcp-session-id'];
        if (session) headers['mcp-session-id'] = session;
        readAll(res).then(text => resolve({ res, text }), reject);
      });
      req.on('error', reject);
      req.end(JSON.stringify(message));
    });
  let id = 0;
  const request = async (method, params) => {
    const { res, text } = await send({ jsonrpc: '2.0', id: ++id, method, params });
    if (res.statusCode !== 200) throw new Error(`${method}: status ${res.statusCode} ${text.slice(0, 200)}`);
    const streamed = res.headers['content-type'].startsWith('text/event-stream');
    return JSON.parse(streamed ? text.slice(text.lastIndexOf('data: ') + 6) : text);
  };
  return { request, send, close: async () => agent.destroy() };
}

function stdioPeer({ command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const send = async message => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const { request, settle, failAll } = correlate(send);
  readLines(child.stdout, settle);
  child.stdin.on('error', failAll);
  child.once('exit', () => failAll(new Error('the stdio server ended')));
  return { request, send, close: async () => child.stdin.end() };
}

async function memoryPeer({ server, copy }) {
  const send = async message => transport.onmessage(copy(message), {});
  const { request, settle } = correlate(send);
  const close = async () => transport.onclose?.();
  const transport = { start: async () => {}, send: async message => settle(copy(message)), close };
  await server.connectMemory(transport);
  return { request, send, close };
}

function correlate(send) {
  const waiting = new Map();
  let id = 0;
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(++id, { resolve, reject });
      void send({ jsonrpc: '2.0', id, method, params });
    });
  const settle = message => {
    waiting.get(message.id)?.resolve(message);
    waiting.delete(message.id);
  };
  const failAll = error => waiting.forEach(({ reject }) => reject(error));
  return { request, settle, failAll };
}

function readLines(stream, onMessage) {
  let rest = [];
  stream.on('data', chunk => {
    for (let end; (end = chunk.indexOf(10)) !== -1; chunk = chunk.subarray(end + 1)) {
      onMessage(JSON.parse(Buffer.concat([...rest, chunk.subarray(0, end)]).toString()));
      rest = [];
    }
    if (chunk.length > 0) rest.push(chunk);
  });
}

function readAll(stream) {
  return new Promise((resolve, reject) => {
    const parts = [];
    stream.on('data', part => parts.push(part));
    stream.on('end', () => resolve(Buffer.concat(parts).toString()));
    stream.on('error', reject);
  });
}
