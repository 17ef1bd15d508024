/** Answers forms of servers in a terminal: one question per field, then a confirmation. */
import type { ElicitationHandler } from '../../src/index.ts';

interface Terminal {
  readonly question: (text: string) => Promise<string>;
  readonly write: (text: string) => void;
}

// #region terminal
export function answerInTerminal({ question, write }: Terminal): ElicitationHandler {
  return async (request, { serverName }) => {
    write(`${serverName} asks: ${request.message}\n`);
    if (request.mode === 'url') return { action: 'decline' };
    const { properties, required = [] } = request.requestedSchema;
    const content: Record<string, string> = {};
    for (const [name, { title, description }] of Object.entries(properties)) {
      const isRequired = required.includes(name);
      const details = `${description ? ` (${description})` : ''}${isRequired ? ' *required*' : ''}`;
      const answer = (await question(`${title ?? name}${details}: `)).trim();
      if (answer.toLowerCase() === 'cancel') return { action: 'cancel' };
      if (answer === '' && isRequired) {
        write(`${name} is required\n`);
        return { action: 'decline' };
      }
      if (answer !== '') content[name] = answer;
    }
    write(`You provided:\n${JSON.stringify(content, null, 2)}\n`);
    const confirmed = (await question('Send this? (yes/no/cancel): ')).trim().toLowerCase();
    if (confirmed === 'yes' || confirmed === 'y') return { action: 'accept', content };
    return { action: confirmed === 'cancel' ? 'cancel' : 'decline' };
  };
}
// #endregion terminal
