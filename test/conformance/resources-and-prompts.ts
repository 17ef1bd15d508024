/** The resources, prompts and completions that the official scenarios ask for. */
import type { MCPServerConfig, PromptMessage } from '../../src/server/index.ts';
import { PNG, embedded, image, text } from './content.ts';

const contents: Readonly<Record<string, { readonly text: string } | { readonly blob: string }>> = {
  'test://static-text': { text: 'This is the content of the static text resource.' },
  'test://static-binary': { blob: PNG },
  'test://watched-resource': { text: 'Somebody may be watching this.' },
};

const template = /^test:\/\/template\/(?<id>[^/]+)\/data$/;

export const resources: MCPServerConfig['resources'] = {
  listResources: () =>
    Promise.resolve([
      { uri: 'test://static-text', name: 'Text', description: 'A text', mimeType: 'text/plain' },
      { uri: 'test://static-binary', name: 'Image', description: 'An image', mimeType: 'image/png' },
      { uri: 'test://watched-resource', name: 'Watched', description: 'Changes', mimeType: 'text/plain' },
    ]),
  resourceTemplates: () =>
    Promise.resolve([
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'Data',
        description: 'Data by id',
        mimeType: 'application/json',
      },
    ]),
  getResourceContent: ({ uri }) => {
    const id = template.exec(uri)?.groups?.['id'];
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return Promise.resolve(id === undefined ? contents[uri] : { text: JSON.stringify(data) });
  },
};

const fromUser = (...parts: readonly PromptMessage['content'][]): readonly PromptMessage[] =>
  parts.map(content => ({ role: 'user', content }));

const messagesOf: Readonly<
  Record<string, (args: Readonly<Record<string, string>>) => readonly PromptMessage[]>
> = {
  test_simple_prompt: () => fromUser(text('This is a simple prompt for testing.')),
  test_prompt_with_arguments: ({ arg1, arg2 }) =>
    fromUser(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  test_prompt_with_embedded_resource: ({ resourceUri = '' }) =>
    fromUser(
      embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ),
  test_prompt_with_image: () => fromUser(image, text('Please analyze the image above.')),
};

const argument = (name: string) => ({ name, description: `The argument ${name}`, required: true });

export const prompts: MCPServerConfig['prompts'] = {
  listPrompts: () =>
    Promise.resolve([
      { name: 'test_simple_prompt', description: 'No arguments' },
      {
        name: 'test_prompt_with_arguments',
        description: 'Two arguments',
        arguments: [argument('arg1'), argument('arg2')],
      },
      {
        name: 'test_prompt_with_embedded_resource',
        description: 'Embeds a resource',
        arguments: [argument('resourceUri')],
      },
      { name: 'test_prompt_with_image', description: 'Embeds an image' },
    ]),
  getPromptMessages: ({ name, args }) => Promise.resolve(messagesOf[name]?.(args) ?? []),
};

export const completions: MCPServerConfig['completions'] = {
  complete: ({ argument: { value } }) => ['paris', 'park', 'party'].filter(word => word.startsWith(value)),
};
