/** The tools that the official scenarios call, written as users write tools. */
import type { ToolsInput } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { MCPToolContext } from '../../src/server/index.ts';
import {
  audio,
  contactSchema,
  embedded,
  formOfChoices,
  formWithDefaults,
  identityForm,
  image,
  text,
} from './content.ts';

/** Between two messages of a running call, so that a client which batches would be seen. */
const STEP_MS = 50;

/** A tool without arguments. */
const tool = (id: string, description: string, execute: (mcp: MCPToolContext) => Promise<unknown>) =>
  createTool({
    id,
    description,
    inputSchema: z.object({}),
    // Core's type has no place for the model of a client.
    execute: (_input, { mcp }) => execute(mcp as MCPToolContext),
  });

const ask = async (mcp: MCPToolContext, message: string, requestedSchema: object): Promise<string> => {
  const { action, content } = await mcp.elicitation.sendRequest({
    message,
    requestedSchema: { ...requestedSchema },
  });
  return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
};

export const tools: ToolsInput = {
  test_simple_text: tool('test_simple_text', 'Gives a text', () =>
    Promise.resolve('This is a simple text response for testing.'),
  ),

  test_image_content: tool('test_image_content', 'Gives an image', () =>
    Promise.resolve({ content: [image] }),
  ),

  test_audio_content: tool('test_audio_content', 'Gives a sound', () =>
    Promise.resolve({ content: [audio] }),
  ),

  test_embedded_resource: tool('test_embedded_resource', 'Gives a resource', () =>
    Promise.resolve({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  ),

  test_multiple_content_types: tool('test_multiple_content_types', 'Gives a text, an image, a resource', () =>
    Promise.resolve({
      content: [
        text('Multiple content types test:'),
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  ),

  test_tool_with_logging: tool('test_tool_with_logging', 'Logs what it does', async ({ log }) => {
    for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await log?.('info', step);
      await delay(STEP_MS);
    }
    return 'Logged three messages';
  }),

  test_tool_with_progress: tool('test_tool_with_progress', 'Reports progress', async ({ progress }) => {
    for (const done of [0, 50, 100]) {
      await progress?.({ progress: done, total: 100 });
      await delay(STEP_MS);
    }
    return 'Reported progress three times';
  }),

  test_error_handling: tool('test_error_handling', 'Always fails', () =>
    Promise.reject(new Error('This tool intentionally returns an error for testing')),
  ),

  test_reconnection: tool('test_reconnection', 'Sends the client away while it works', async ({ extra }) => {
    extra.http?.closeSSE?.();
    await delay(2 * STEP_MS);
    return 'Reconnection test completed';
  }),

  test_elicitation_sep1034_defaults: tool('test_elicitation_sep1034_defaults', 'Asks with defaults', mcp =>
    ask(mcp, 'Please review the defaults', formWithDefaults),
  ),

  test_elicitation_sep1330_enums: tool('test_elicitation_sep1330_enums', 'Asks to choose', mcp =>
    ask(mcp, 'Please choose', formOfChoices),
  ),

  test_elicitation: createTool({
    id: 'test_elicitation',
    description: 'Asks who the user is',
    inputSchema: z.object({ message: z.string() }),
    execute: ({ message }, { mcp }) => ask(mcp as MCPToolContext, message, identityForm),
  }),

  test_sampling: createTool({
    id: 'test_sampling',
    description: 'Has the model of the client answer',
    inputSchema: z.object({ prompt: z.string() }),
    execute: async ({ prompt }, { mcp }) => {
      const messages = [{ role: 'user' as const, content: text(prompt) }];
      const { sampling } = mcp as MCPToolContext;
      const { content } = await sampling.sendRequest({ messages, maxTokens: 100 });
      return `LLM response: ${content.type === 'text' ? content.text : content.type}`;
    },
  }),

  json_schema_2020_12_tool: createTool({
    id: 'json_schema_2020_12_tool',
    description: 'Takes a contact, described by JSON Schema 2020-12',
    inputSchema: contactSchema as never,
    execute: input => Promise.resolve(JSON.stringify(input)),
  }),
};
