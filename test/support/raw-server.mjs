// A stdio MCP server without dependencies whose behaviour comes from the environment variable SERVER, as JSON:
// { instructions?, serverInfo?, capabilities?, tools: [{ definition, result?, error?, delayMs?, progress?, log? }] }.
// A tool answers `result`, or JSON-RPC `error`, or echoes its arguments; the tool `__calls` gives what was called.
import { createInterface } from 'node:readline';

const { instructions, serverInfo, capabilities, tools } = JSON.parse(process.env.SERVER);
const calls = [];
const cancelled = [];
const roots = [];
let initialize;
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = value => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

async function call(id, params) {
  if (params.name === '__calls')
    return send({ id, result: text({ calls, cancelled, initialize, roots, cwd: process.cwd() }) });
  calls.push(params);
  const tool = tools.find(({ definition }) => definition.name === params.name);
  if (tool === undefined) return send({ id, error: { code: -32602, message: 'Unknown tool' } });
  if (tool.log) send({ method: 'notifications/message', params: tool.log });
  for (const progress of tool.progress ?? []) {
    const progressToken = params._meta?.progressToken;
    if (progressToken !== undefined) {
      send({ method: 'notifications/progress', params: { progressToken, ...progress } });
    }
    await new Promise(resolve => setTimeout(resolve, tool.delayMs ?? 0));
  }
  if (tool.delayMs) await new Promise(resolve => setTimeout(resolve, tool.delayMs));
  if (tool.silent) return;
  if (tool.error) return send({ id, error: tool.error });
  send({ id, result: tool.result ?? text(params.arguments ?? null) });
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) roots.push(result);
  else if (method === 'initialize') {
    initialize = params;
    const answer = {
      protocolVersion: params.protocolVersion,
      capabilities: capabilities ?? { tools: { listChanged: true }, logging: {} },
      serverInfo: serverInfo ?? { name: 'raw', version: '1.2.3' },
      ...(instructions === undefined ? {} : { instructions }),
    };
    send({ id, result: answer });
  } else if (method === 'notifications/initialized') {
    if (initialize.capabilities.roots) send({ id: 'roots', method: 'roots/list' });
  } else if (method === 'ping') send({ id, result: {} });
  else if (method === 'tools/list')
    send({ id, result: { tools: tools.map(({ definition }) => definition) } });
  else if (method === 'tools/call') void call(id, params);
  else if (method === 'notifications/cancelled') cancelled.push(params.requestId);
  else if (id !== undefined && method !== undefined)
    send({ id, error: { code: -32601, message: 'Method not found' } });
});
