import { createRequire } from 'node:module';
import type { ToolsInput } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import type { ToolExecutionContext } from '@mastra/core/tools';
import { McpError, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { MCPServer, MCPServerError, urlElicitationRequired } from '../../src/server/index.ts';
import type { ElicitUrlParams, MCPToolContext } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';
import type { CallerOptions, ShownForm } from './call-harness.ts';

const serverOf = (tools: ToolsInput): MCPServer => new MCPServer({ name: 's', version: '1.0.0', tools });
const page = { mode: 'url', message: 'Please pay', url: 'https://pay.example.com/checkout?id=7' } as const;
const urls = { elicitation: { form: {}, url: {} } };

/** A tool with our context. */
const toolOf = (run: (mcp: MCPToolContext) => unknown) =>
  createTool({
    id: 'opens',
    description: 'O',
    execute: async (_input, context: ToolExecutionContext) => run(context.mcp as MCPToolContext),
  });

const opens = (question: Partial<Record<keyof ElicitUrlParams, unknown>> = page) =>
  toolOf(mcp => mcp.elicitation.sendRequest(question as ElicitUrlParams));

/** A client that opens pages, and what it was shown and told. */
function opener(answer: ElicitResult = { action: 'accept' }) {
  const shown: ShownForm[] = [];
  const completed: unknown[] = [];
  const options: CallerOptions = {
    capabilities: urls,
    onElicit: form => {
      shown.push(form);
      return answer;
    },
    onNotification: (method, params) => void completed.push([method, params]),
  };
  return { shown, completed, options };
}

describe('a page to open', () => {
  verifies('D17', 'reaches the user with an id of its own, and comes back as an action only', async () => {
    for (const action of ['accept', 'decline', 'cancel'] as const) {
      const { shown, options } = opener({ action, content: { card: '4111' } });
      await using caller = await callInMemory(serverOf({ opens: opens() }), options);
      expect(await caller.text('opens')).toBe(JSON.stringify({ action }));
      expect(shown).toEqual([{ ...page, elicitationId: expect.stringMatching(/^[\da-f-]{36}$/) }]);
    }
  });

  test('keeps the id that it was given', async () => {
    const { shown, options } = opener();
    await using caller = await callInMemory(
      serverOf({ opens: opens({ ...page, elicitationId: 'e-1' }) }),
      options,
    );
    await caller.call('opens');
    expect(shown).toEqual([{ ...page, elicitationId: 'e-1' }]);
  });

  verifies('T9', 'is asked for by whole http and https URLs alone, without a user or password', async () => {
    const { shown, options } = opener();
    for (const url of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'ftp://example.com/',
      'https://bank.example.com@evil.example.com/',
      'https://user:secret@example.com/',
      '/checkout',
      'not a URL',
      7,
      undefined,
    ]) {
      await using caller = await callInMemory(serverOf({ opens: opens({ ...page, url }) }), options);
      const result = await caller.call('opens');
      expect([url, result.isError]).toEqual([url, true]);
      expect(JSON.stringify(result.content)).toContain('http or https');
    }
    expect(shown).toEqual([]);
    for (const more of [
      { elicitationId: '' },
      { elicitationId: 5 },
      { message: undefined },
      { mode: 'fax' },
    ]) {
      await using caller = await callInMemory(serverOf({ opens: opens({ ...page, ...more }) }), options);
      expect(await caller.text('opens')).toMatch(/^Elicitation refused: /);
    }
    expect(shown).toEqual([]);
  });

  test('is not sent to a client that declared forms only, nor with nothing declared', async () => {
    for (const capabilities of [{ elicitation: {} }, { elicitation: { form: {} } }, {}]) {
      const { shown, options } = opener();
      await using caller = await callInMemory(serverOf({ opens: opens() }), { ...options, capabilities });
      expect(await caller.text('opens')).toBe(
        'The client does not support URL elicitation, so the question to the user was not sent',
      );
      expect(shown).toEqual([]);
    }
  });

  test('needs the capability of its mode by raw requests as well', async () => {
    const request = { method: 'elicitation/create', params: { ...page, elicitationId: 'e-1' } };
    type Send = (request: object) => Promise<unknown>;
    const raw = toolOf(mcp => (mcp.extra.sendRequest as unknown as Send)(request));
    const { shown, options } = opener();
    await using able = await callInMemory(serverOf({ raw }), options);
    expect(await able.text('raw')).toBe('{"action":"accept"}');
    await using unable = await callInMemory(serverOf({ raw }), {
      ...options,
      capabilities: { elicitation: {} },
    });
    expect(await unable.text('raw')).toContain('does not support URL elicitation');
    expect(shown).toHaveLength(1);
  });
});

const required = { ...page, elicitationId: 'e-1' };
const throws = (error: () => unknown) =>
  toolOf(() => {
    throw error();
  });

/** What a client gets from a tool that throws this. */
async function thrownBy(error: () => unknown): Promise<unknown> {
  await using caller = await callInMemory(serverOf({ fails: throws(error) }), opener().options);
  return await caller.call('fails').catch((reason: unknown) => reason);
}

describe('a page that must be opened first', () => {
  const answer = { code: -32042, data: { elicitations: [required] } };

  verifies('D17', 'is a JSON-RPC error with the pages in it, not a failed result', async () => {
    const error = await thrownBy(() => new UrlElicitationRequiredError([required], 'Log in first'));
    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    expect(error).toMatchObject({ ...answer, message: 'MCP error -32042: Log in first' });
  });

  test('is known by its code and its data, whoever made the error and whatever wraps it', async () => {
    const otherSdk = createRequire(import.meta.url)('@modelcontextprotocol/sdk/types.js') as {
      UrlElicitationRequiredError: typeof UrlElicitationRequiredError;
    };
    expect(otherSdk.UrlElicitationRequiredError).not.toBe(UrlElicitationRequiredError);
    const data = { elicitations: [required], token: 'secret' };
    for (const error of [
      () => new otherSdk.UrlElicitationRequiredError([required]),
      () => Object.assign(new Error('x'), { code: -32042, data }),
      () => new Error('outer', { cause: new Error('inner', { cause: new McpError(-32042, 'x', data) }) }),
      () => new MCPServerError('MCP_SERVER_URL_ELICITATION_REQUIRED', { message: 'x', data }),
      () => urlElicitationRequired([{ message: page.message, url: page.url, elicitationId: 'e-1' }]),
    ]) {
      expect(await thrownBy(error)).toMatchObject({ code: -32042, data: answer.data });
    }
  });

  verifies('T9', 'is an ordinary failure where the pages are not such as may be asked for', async () => {
    const wrong = [
      { elicitations: [] },
      { elicitations: [{ ...required, url: 'javascript:alert(1)' }] },
      { elicitations: [required, { ...required, mode: 'form' }] },
      { elicitations: [{ ...page }] },
      { elicitations: 'https://example.com' },
      undefined,
    ];
    for (const data of wrong) {
      expect(await thrownBy(() => Object.assign(new Error('no'), { code: -32042, data }))).toEqual({
        isError: true,
        content: [{ type: 'text', text: 'no' }],
      });
    }
    const other = Object.assign(new Error('no'), { code: -32000, data: { elicitations: [required] } });
    expect(await thrownBy(() => other)).toMatchObject({ isError: true });
    const circular: { code: number; cause?: unknown } = { code: 1 };
    circular.cause = circular;
    expect(await thrownBy(() => Object.assign(new Error('round'), { cause: circular }))).toMatchObject({
      isError: true,
    });
  });

  verifies('T9', 'is refused when the error is made', () => {
    for (const pages of [[], [{ message: 'm', url: 'ftp://example.com' }]]) {
      expect(() => urlElicitationRequired(pages)).toThrow(
        expect.objectContaining({ code: 'MCP_SERVER_PARAMS_INVALID' }),
      );
    }
    const { data } = urlElicitationRequired([{ message: 'm', url: 'https://example.com/' }]);
    expect(data).toMatchObject({ elicitations: [{ mode: 'url', elicitationId: expect.any(String) }] });
  });

  test('is not logged as a failure of the tool, and the host gets it as the cause', async () => {
    const server = serverOf({ fails: throws(() => urlElicitationRequired([page])) });
    const logged: unknown[] = [];
    const note = (...parts: unknown[]): void => void logged.push(parts);
    server.__setLogger({ ...console, debug: note, error: note } as never);
    await using caller = await callInMemory(server, opener().options);
    await expect(caller.call('fails')).rejects.toMatchObject({ code: -32042 });
    expect(logged).toEqual([]);
    await expect(server.executeTool('fails', {})).rejects.toMatchObject({
      code: 'MCP_SERVER_TOOL_EXECUTE_FAILED',
      cause: { code: 'MCP_SERVER_URL_ELICITATION_REQUIRED' },
    });
  });
});

describe('the end of what a user does on a page', () => {
  const complete = (server: MCPServer, elicitationId = 'e-1'): Promise<boolean> =>
    server.elicitation.complete({ elicitationId });
  const told = ['notifications/elicitation/complete', { elicitationId: 'e-1' }];

  verifies('D17', 'is told once, to the client that was asked and to no other', async () => {
    const server = serverOf({
      opens: opens({ ...page, elicitationId: 'e-1' }),
      fails: throws(() => urlElicitationRequired([{ ...page, elicitationId: 'e-1' }])),
    });
    for (const join of [callInMemory, callByFetch]) {
      for (const tool of ['opens', 'fails']) {
        const asked = opener();
        const other = opener();
        await using caller = await join(server, asked.options);
        await using bystander = await join(server, other.options);
        await bystander.client.ping();
        expect(await complete(server)).toBe(false);
        await caller.call(tool).catch(() => undefined);
        expect(await complete(server, 'e-2')).toBe(false);
        expect(await complete(server)).toBe(true);
        await until(() => asked.completed.length === 1);
        expect(await complete(server)).toBe(false);
        expect([asked.completed, other.completed]).toEqual([[told], []]);
      }
    }
    await server.close();
  });

  test('is remembered for the newest hundred pages of a client', async () => {
    let next = 0;
    const many = toolOf(mcp => {
      next += 1;
      return mcp.elicitation.sendRequest({ ...page, elicitationId: `e-${next}` });
    });
    const server = serverOf({ many });
    const { completed, options } = opener();
    await using caller = await callInMemory(server, options);
    for (let call = 1; call <= 101; call += 1) await caller.call('many');
    expect(await complete(server, 'e-1')).toBe(false);
    expect(await complete(server, 'e-2')).toBe(true);
    expect(await complete(server, 'e-101')).toBe(true);
    expect(completed).toHaveLength(2);
  });

  test('is told to nobody where the client has left, or there was no session', async () => {
    const server = serverOf({
      opens: opens({ ...page, elicitationId: 'e-1' }),
      fails: throws(() => urlElicitationRequired([{ ...page, elicitationId: 'e-1' }])),
    });
    const { options } = opener();
    const gone = await callInMemory(server, options);
    await gone.call('opens');
    await gone.client.close();
    expect(await complete(server)).toBe(false);
    const serverless = { options: { serverless: true } };
    await using stateless = await callByFetch(server, { ...options, facts: serverless });
    await expect(stateless.call('fails')).rejects.toMatchObject({ code: -32042 });
    expect(await complete(server)).toBe(false);
  });
});
