/** What the agent of the demo is asked to do, what the offline model answers, and what may not happen unasked. */
import type { Script } from '../support/scripted-model.ts';

/** The folders the story takes place in: documents to read, notes to write. */
export interface Folders {
  readonly docs: string;
  readonly notes: string;
}

/** The calls the agent is expected to make, and a part of what each must return. */
export const EXPECTED: Readonly<Record<string, string>> = {
  files_list_directory: '[FILE] index.md',
  files_read_text_file: '@mastra/mcp',
  newsroom_count_words: 'words',
  'everything_trigger-long-running-operation': 'completed',
  newsroom_ask_editor: '',
  newsroom_run_publish: '/pages/',
  files_write_file: 'Successfully wrote',
};

/** The call that is declined. */
export const DECLINED = 'files_move_file';

export const toTask = ({ docs, notes }: Folders): string => `
Do these steps one after the other, with one tool call each, and do not skip or repeat any:
1. List the directory ${docs}.
2. Read the text file ${docs}/index.md.
3. Count the words of that text.
4. Trigger the long running operation with duration 2 and steps 8.
5. Ask the editor for a title for the text.
6. Publish the page under that title.
7. Write the path of the page to the file ${notes}/published.txt.
8. Move the file ${docs}/index.md to ${notes}/index.md. When this is declined, go on.
Then say in one sentence what you did.`;

/** What the offline model does about the task. It works with what the tools returned, as a real one would. */
export const toScript = ({ docs, notes }: Folders): Script => [
  { call: 'files_list_directory', args: { path: docs } },
  { call: 'files_read_text_file', args: { path: `${docs}/index.md` } },
  ([, text]) => ({ call: 'newsroom_count_words', args: { text } }),
  { call: 'everything_trigger-long-running-operation', args: { duration: 2, steps: 8 } },
  ([, text]) => ({ call: 'newsroom_ask_editor', args: { message: `A title, please, for: ${text}` } }),
  results => ({ call: 'newsroom_run_publish', args: { title: results[4] } }),
  results => ({
    call: 'files_write_file',
    args: { path: `${notes}/published.txt`, content: results[5] },
  }),
  {
    call: DECLINED,
    args: { source: `${docs}/index.md`, destination: `${notes}/index.md` },
  },
  { text: 'The page is published and noted down; the file stays where it was.' },
];
