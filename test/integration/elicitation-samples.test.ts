/** The samples of the reference for answering a server, in a terminal and by the schema, as users have them. */
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import type { MCPClient } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { startScripted, type ScriptedServer } from '../support/scripted-server.ts';

const form = {
  message: 'Please introduce yourself',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Full name', description: 'as on your badge' },
      email: { type: 'string', format: 'email' },
      size: { type: 'string', enum: ['S', 'M', 'L'] },
    },
    required: ['name'],
  },
};

interface Joined extends AsyncDisposable {
  readonly client: MCPClient;
  readonly server: ScriptedServer;
}

async function join(): Promise<Joined> {
  const server = await startScripted();
  const client = openClient({ interactiveServer: { url: server.url } });
  return {
    client,
    server,
    async [Symbol.asyncDispose]() {
      await client.disconnect();
      await server.close();
    },
  };
}

verifies(
  ['S121', 'S118', 'S119'],
  'the interactive sample runs, with every answer a user can give',
  async () => {
    // Somebody types a line whenever a question is on the screen.
    const [input, output] = [new PassThrough(), new PassThrough()];
    let keyboard: string[] = [];
    let screen = '';
    output.on('data', (chunk: Buffer) => {
      screen += String(chunk);
      if (screen.endsWith(': ')) input.write(`${keyboard.shift() ?? ''}\n`);
    });
    const readline = createInterface({ input, output });
    const askQuestion = (question: string): Promise<string> =>
      new Promise(resolve => readline.question(question, answer => resolve(answer.trim())));

    await using joined = await join();
    const { client: mcpClient, server } = joined;
    await mcpClient.elicitation.onRequest('interactiveServer', async request => {
      output.write(`Server Request: ${request.message}\n`);
      const schema = request.requestedSchema;
      const properties = schema.properties || {};
      const required = schema.required || [];
      const content: Record<string, string> = {};
      for (const [fieldName, fieldSchema] of Object.entries(properties)) {
        const isRequired = required.includes(fieldName);
        let prompt = fieldSchema.title || fieldName;
        if (fieldSchema.description) prompt += ` (${fieldSchema.description})`;
        if (isRequired) prompt += ' *required*';
        const answer = await askQuestion(`${prompt}: `);
        if (answer.toLowerCase() === 'cancel') return { action: 'cancel' };
        if (answer === '' && isRequired) {
          output.write(`${fieldName} is required\n`);
          return { action: 'decline' };
        }
        if (answer !== '') content[fieldName] = answer;
      }
      const confirm = await askQuestion('Submit this information? (yes/no/cancel): ');
      if (confirm.toLowerCase() === 'yes' || confirm.toLowerCase() === 'y')
        return { action: 'accept', content };
      if (confirm.toLowerCase() === 'cancel') return { action: 'cancel' };
      return { action: 'decline' };
    });
    await mcpClient.listTools();

    const all = { name: 'Alice Smith', email: 'alice@example.com', size: 'M' };
    for (const [typed, result] of [
      [[...Object.values(all), 'yes'], { action: 'accept', content: all }],
      [['Alice Smith', '', '', 'Y'], { action: 'accept', content: { name: 'Alice Smith' } }],
      [['Alice Smith', '', '', 'no'], { action: 'decline' }],
      [['Alice Smith', '', '', 'cancel'], { action: 'cancel' }],
      [['Alice Smith', 'Cancel'], { action: 'cancel' }],
      [[''], { action: 'decline' }],
    ] as const) {
      keyboard = [...typed];
      expect((await server.ask('elicitation/create', form)).result).toEqual(result);
      expect(keyboard).toEqual([]);
    }
    expect(screen).toContain('Full name (as on your badge) *required*: ');
    expect(screen).toContain('name is required');
    readline.close();
  },
);

verifies(
  ['S122', 'S118'],
  'the sample of a form that follows the schema gets all that a form needs',
  async () => {
    await using joined = await join();
    const { client: mcpClient, server } = joined;
    const shown: object[] = [];
    const promptUser = (field: { readonly name: string }): Promise<string | null> => {
      shown.push(field);
      return Promise.resolve(field.name === 'email' ? null : field.name.toUpperCase());
    };
    await mcpClient.elicitation.onRequest('interactiveServer', async request => {
      const { properties, required = [] } = request.requestedSchema;
      const content: Record<string, string> = {};
      for (const [fieldName, field] of Object.entries(properties || {})) {
        const value = await promptUser({
          name: fieldName,
          title: field.title,
          description: field.description,
          type: field.type,
          required: required.includes(fieldName),
          format: 'format' in field ? field.format : undefined,
          enum: 'enum' in field ? field.enum : undefined,
        } as { name: string });
        if (value !== null) content[fieldName] = value;
      }
      return { action: 'accept', content };
    });
    await mcpClient.listTools();
    const { result } = await server.ask('elicitation/create', form);
    expect(result).toEqual({ action: 'accept', content: { name: 'NAME', size: 'SIZE' } });
    const { name, email, size } = form.requestedSchema.properties;
    expect(shown).toEqual([
      { ...name, name: 'name', required: true },
      { ...email, name: 'email', required: false },
      { ...size, name: 'size', required: false },
    ]);
  },
);
