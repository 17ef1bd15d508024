import { describe, expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { TWO_WAY, wire, WIRES } from '../support/wire.ts';

describe.each(WIRES)('over %s', kind => {
  verifies(
    ['S163', 'S160', 'S156', 'D13', 'S079'],
    'a client lists and calls the tools of the server',
    async () => {
      await using joined = await wire(kind);
      const tools = await joined.client.listTools();
      const names = 'add echo steps fail picture ask hang page think folders touch'.split(' ');
      expect(Object.keys(tools)).toEqual(names.map(name => `fixture_${name}`));
      expect(await tools['fixture_add']?.execute({ a: 2, b: 3 })).toEqual({ sum: 5 });
      expect(await tools['fixture_echo']?.execute({ text: 'héllo ✓' })).toEqual({
        content: [{ type: 'text', text: 'héllo ✓' }],
      });
      expect(await tools['fixture_picture']?.execute({})).toMatchObject({
        content: [{ type: 'image', mimeType: 'image/png' }],
      });
    },
  );

  verifies(['D08', 'S079', 'B82'], 'a tool that throws is an error with one readable line', async () => {
    await using joined = await wire(kind);
    const tools = await joined.client.listTools();
    await expect(tools['fixture_fail']?.execute({})).rejects.toMatchObject({
      code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
      message: 'The till is empty',
      toolName: 'fail',
      serverName: 'fixture',
    });
  });

  verifies(['S063', 'S138', 'D02'], 'the client knows who the server is and its instructions', async () => {
    await using joined = await wire(kind);
    await joined.client.listTools();
    expect(joined.client.getServerInstructions()).toEqual({ fixture: 'A server for tests.' });
    expect(joined.client.getServerStatus()['fixture']).toMatchObject({
      state: 'ready',
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'Fixture', version: '3.2.1' },
    });
  });

  verifies(
    ['D03', 'S164', 'S165', 'S211'],
    'progress reaches the client where there is a stream',
    async () => {
      await using joined = await wire(kind);
      const tools = await joined.client.listTools();
      const seen: number[] = [];
      await joined.client.progress.onUpdate('fixture', ({ progress }) => seen.push(progress));
      expect(await tools['fixture_steps']?.execute({ count: 3 })).toMatchObject({
        content: [{ text: '3 steps' }],
      });
      expect(seen).toEqual(kind === 'stateless' ? [] : [1, 2, 3]);
    },
  );

  verifies(['D14', 'S236'], 'a cancelled call ends at the client and the next one works', async () => {
    await using joined = await wire(kind);
    const tools = await joined.client.listTools();
    const controller = new AbortController();
    const call = tools['fixture_hang']?.execute({}, { abortSignal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(call).rejects.toMatchObject({ code: 'MCP_CLIENT_REQUEST_ABORTED' });
    expect(await tools['fixture_echo']?.execute({ text: 'on' })).toMatchObject({ content: [{ text: 'on' }] });
  });

  verifies(
    ['S153', 'S154', 'S117', 'S120', 'X08', 'S167'],
    'a tool can ask the caller, or is told at once that it cannot',
    async () => {
      await using joined = await wire(kind);
      const tools = await joined.client.listTools();
      await joined.client.elicitation.onRequest('fixture', ({ message }) => ({
        action: 'accept',
        content: { colour: message === 'Which colour?' ? 'blue' : 'none' },
      }));
      const call = tools['fixture_ask']?.execute({});
      if (TWO_WAY.includes(kind)) expect(await call).toMatchObject({ content: [{ text: 'accept: blue' }] });
      else await expect(call).rejects.toMatchObject({ code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED' });
    },
  );
});
