import { createTool } from '@mastra/core/tools'; import { z } from 'zod';
import { Mastra } from '@mastra/core/mastra';
import { Server } from '@modelcontextprotocol/sdk/server/index.js'; import { Client } from '@modelcontextprotocol/sdk/client/index.js'; import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'; import { CallToolRequestSchema, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { MCPServer } from '/work/main/src/server/index.ts';
const echo = createTool({ id: 'echo', description: 'E', inputSchema: z.object({ text: z.string() }), execute: async ({ text }) => text });
const ours = new MCPServer({ name: 's', version: '1', tools: { echo } });
new Mastra({ mcpServers: { ours }, logger: false });
const raw = new Server({ name: 'r', version: '1' }, { capabilities: { tools: {} } });
raw.setRequestHandler(CallToolRequestSchema, async r => ({ content: [{ type: 'text', text: String((r.params.arguments as any).text) }] }));
// raw wire driver, without an SDK client
async function driver(server: any) { const [a, b] = InMemoryTransport.createLinkedPair(); const pend = new Map(); a.onmessage = (m: any) => pend.get(m.id)?.(m); await a.start(); await server.connect(b); let n = 10; 
 return (params: any) => new Promise(r => { const id = n++; pend.set(id, r); void a.send({ jsonrpc: '2.0', id, method: 'tools/call', params } as any); }); }
const dO = await driver(ours.getServer()), dR = await driver(raw);
console.log(JSON.stringify(await dO({ name: 'echo', arguments: { text: 'x' } })), JSON.stringify(await dR({ name: 'echo', arguments: { text: 'x' } })));
async function run(d: any, n: number) { const t = process.cpuUsage(); for (let i = 0; i < n; i += 16) await Promise.all(Array.from({ length: 16 }, () => d({ name: 'echo', arguments: { text: 'hello' } }))); const u = process.cpuUsage(t); return (u.user + u.system) / n; }
await run(dO, 4000); await run(dR, 4000);
for (let r = 0; r < 6; r++) { const o = await run(dO, 8000), w = await run(dR, 8000); console.log('ours', o.toFixed(1), 'raw', w.toFixed(1), 'ratio', (o / w).toFixed(2)); }
const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`t${i}`, createTool({ id: `t${i}`, description: 'd', inputSchema: z.object({ a: z.string(), b: z.number().optional() }), execute: async () => 1 })]));
for (let r = 0; r < 4; r++) { const t = process.cpuUsage(); const s = new MCPServer({ name: 's', version: '1', tools: many }); const u = process.cpuUsage(t); const t2 = process.cpuUsage(); s.getToolListInfo(); const u2 = process.cpuUsage(t2); console.log('construct 1000', (u.user + u.system) / 1000, 'ms; first list', (u2.user + u2.system) / 1000, 'ms'); }
