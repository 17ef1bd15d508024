import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { MastraMCPServerDefinition } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { answerPlainly, startHttp, type HttpTestServer } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { serverProgram } from '../support/node-program.ts';
import type { GiantListReport } from './fixtures/giant-list.ts';

const SIZE = 200_000_000;
const LIMIT = 64 * 1024 * 1024;
const PIECE = 'x'.repeat(1_000_000);
const head = (id: unknown): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":[{"name":"big","inputSchema":{"type":"object"},"description":"`;
const TAIL = '"}]}}';

function* giant(id: unknown): Generator<string> {
  yield head(id);
  for (let sent = 0; sent < SIZE; sent += PIECE.length) yield PIECE;
  yield TAIL;
}

/** Answers `tools/list` with 200 MB, everything else plainly. */
const startGiant = (begin: (response: ServerResponse, id: unknown) => void): Promise<HttpTestServer> =>
  startHttp(async (request, response) => {
    const { id, method } = request.message ?? {};
    if (method !== 'tools/list') return answerPlainly(request, response);
    begin(response, id);
    // The client leaves long before the end.
    return pipeline(giant(id), response).catch(() => undefined);
  });

async function list(definition: MastraMCPServerDefinition): Promise<GiantListReport> {
  const script = fileURLToPath(new URL('fixtures/giant-list.ts', import.meta.url));
  const args = ['--expose-gc', '--import', 'tsx', script, JSON.stringify(definition)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as GiantListReport;
}

function expectRefused(transport: string, report: GiantListReport): void {
  console.info(`C9: ${transport}, resident set +${Math.round(report.growth / 1e6)} MB`);
  expect(report).toMatchObject({
    code: 'MCP_CLIENT_MESSAGE_TOO_LARGE',
    mayHaveExecuted: true,
    message: expect.stringContaining(String(LIMIT)),
    tools: 0,
    afterwards: 'alive',
  });
  expect(report.growth).toBeLessThan(150e6);
}

const LIMIT_MS = 120_000;

verifies(
  ['C9', 'D15'],
  'a list of 200 MB over stdio is refused, with less than 150 MB of memory',
  async () => {
    const server = serverProgram(`
      list = ({ id }) => {
        process.stdout.write(${JSON.stringify(head(0)).replace('\\"id\\":0', '\\"id\\":" + id + "')});
        const piece = 'x'.repeat(${PIECE.length});
        let left = ${SIZE / PIECE.length};
        const more = () => {
          if (left-- > 0) process.stdout.write(piece, error => { if (!error) setImmediate(more); });
          else process.stdout.write('${TAIL}\\n');
        };
        more();
      };`);
    expectRefused('stdio', await list(server));
  },
  LIMIT_MS,
);

for (const [what, headers] of [
  ['JSON without a length', {}],
  ['JSON that declares its length', { 'content-length': String(head(1).length + SIZE + TAIL.length) }],
] as const) {
  verifies(
    ['C9', 'D15'],
    `a list of 200 MB in ${what} is refused, with less than 150 MB of memory`,
    async () => {
      await using server = await startGiant(response =>
        response.writeHead(200, { 'content-type': 'application/json', ...headers }),
      );
      expectRefused(what, await list({ url: `${server.origin}/mcp` }));
    },
    LIMIT_MS,
  );
}

verifies(
  ['C9', 'D15'],
  'a list of 200 MB in one event is refused, with less than 150 MB of memory',
  async () => {
    await using server = await startGiant(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: ');
    });
    expectRefused('event stream', await list({ url: `${server.origin}/mcp` }));
  },
  LIMIT_MS,
);

verifies(
  ['C9', 'D15'],
  'a list of 200 MB over HTTP+SSE is refused, with less than 150 MB of memory',
  async () => {
    await using server = await startLegacySse({
      onMessage: ({ id, method }, { stream }) => {
        if (method !== 'tools/list') return undefined;
        stream.write('data: ');
        void pipeline(giant(id), stream).catch(() => undefined);
        return 'handled';
      },
    });
    expectRefused('HTTP+SSE', await list({ url: `${server.origin}/sse`, transport: 'sse' }));
  },
  LIMIT_MS,
);
