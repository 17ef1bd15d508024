import { assertType, expectTypeOf, test } from 'vitest';
import type {
  AppResources,
  CompletionRequest,
  MCPServerConfig,
  MCPServerPrompts,
  MCPServerResourceContent,
  MCPServerResources,
  Prompt,
  PromptMessage,
  PromptRequest,
  Resource,
  ResourceTemplate,
} from '../../src/server/index.ts';

const resources = [] as Resource[];
const templates = [] as ResourceTemplate[];
const contents: Record<string, MCPServerResourceContent> = { a: { text: 'a' }, b: { blob: 'Yg==' } };
const prompts: Prompt[] = [{ name: 'analyze-code', description: 'Analyze', version: 'v1' }];
const message: PromptMessage = { role: 'user', content: { type: 'text', text: 'x' } };

test('resources take the callbacks of the reference', () => {
  assertType<MCPServerResources>({
    listResources: async () => resources,
    getResourceContent: async ({ uri }) => {
      if (contents[uri]) return contents[uri];
      throw new Error(`Resource content not found for ${uri}`);
    },
    resourceTemplates: async () => templates,
  });
  // As 1.x typed them.
  assertType<MCPServerResources>({
    listResources: (): Promise<Resource[]> => Promise.resolve(resources),
    getResourceContent: ({
      uri,
    }: {
      uri: string;
    }): Promise<MCPServerResourceContent | MCPServerResourceContent[]> => Promise.resolve([{ text: uri }]),
  });
});

test('resources take synchronous callbacks, read-only lists and nothing found', () => {
  assertType<MCPServerResources>({
    listResources: () => [] as readonly Resource[],
    getResourceContent: () => undefined,
    resourceTemplates: undefined,
  });
  // @ts-expect-error reading is what a resource is for
  assertType<MCPServerResources>({ listResources: () => [] });
  const nameless = { listResources: () => [{ uri: 'x://y' }], getResourceContent: () => undefined };
  // @ts-expect-error a resource has a name
  assertType<MCPServerResources>(nameless);
});

test('callbacks know what they are asked and by whom', () => {
  type Request = Parameters<MCPServerResources['getResourceContent']>[0];
  expectTypeOf<Request['uri']>().toBeString();
  expectTypeOf<Request['extra']['signal']>().toEqualTypeOf<AbortSignal>();
  expectTypeOf<Request['requestContext']['get']>().toBeFunction();
  expectTypeOf<PromptRequest['args']>().toEqualTypeOf<Readonly<Record<string, string>>>();
  expectTypeOf<PromptRequest>().toHaveProperty('extra');
  expectTypeOf<CompletionRequest['context']['arguments']>().toEqualTypeOf<Readonly<Record<string, string>>>();
});

test('prompts take messages, and messages beside their prompt', () => {
  assertType<MCPServerPrompts>({
    listPrompts: async () => prompts,
    getPromptMessages: async ({ name, version, args }) => {
      const prompt = prompts.find(p => p.name === name && p.version === version);
      if (!prompt) throw new Error('Prompt not found');
      return {
        prompt,
        messages: [{ role: 'user', content: { type: 'text', text: `Analyze this code: ${args['code']}` } }],
      };
    },
  });
  assertType<MCPServerPrompts>({
    listPrompts: () => prompts,
    getPromptMessages: () => [message, { role: 'assistant', content: { type: 'text', text: 'x' } }],
  });
  // As 1.x typed it.
  assertType<MCPServerPrompts>({
    listPrompts: () => Promise.resolve(prompts),
    getPromptMessages: ({
      name,
    }: {
      name: string;
      version?: string;
      // oxlint-disable-next-line typescript/no-explicit-any -- the type of the reference
      args?: any;
    }): Promise<{ prompt: Prompt; messages: PromptMessage[] }> =>
      Promise.resolve({ prompt: { name }, messages: [message] }),
  });
  assertType<MCPServerPrompts>({ listPrompts: () => [] });
  const system = { listPrompts: () => prompts, getPromptMessages: () => [{ ...message, role: 'system' }] };
  // @ts-expect-error the system does not speak
  assertType<MCPServerPrompts>(system);
});

test('pages are html or a file, with the metadata of the extension', () => {
  assertType<AppResources>({
    'ui://calculator/main': { name: 'Interactive Calculator', html: '<html></html>' },
    'ui://chart/main': {
      name: 'Chart',
      description: 'A chart',
      htmlPath: './chart.html',
      meta: {
        csp: { connectDomains: ['https://api.example.com'] },
        permissions: { camera: {} },
        prefersBorder: true,
      },
    },
  });
  const text = { 'ui://x': { name: 'x', html: '', meta: { csp: { connectDomains: 'https://x' } } } };
  // @ts-expect-error a list, not a text
  assertType<AppResources>(text);
});

test('a server takes all of them, and an explicit undefined', () => {
  assertType<MCPServerConfig>({
    name: 'S',
    version: '1.0.0',
    resources: undefined,
    prompts: undefined,
    appResources: undefined,
    completions: undefined,
  });
  assertType<MCPServerConfig>({
    name: 'S',
    version: '1.0.0',
    completions: {
      complete: ({ ref, argument }) =>
        ref.type === 'ref/prompt' ? [ref.name] : { values: [ref.uri, argument.value], hasMore: true },
    },
  });
});
