import { expect } from 'vitest';
import { executeOf, openClient, regressionInput, rejection } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { runningChildren } from '../support/processes.ts';
import { verifies } from '../requirements/requirements.ts';

verifies(
  'B06',
  'an error answer that mentions a session is an error answer: no reconnect, no repetition',
  async () => {
    const ledger = temporaryFile();
    const before = runningChildren();
    await using client = openClient({
      gym: {
        ...regressionInput('B06-error-text-says-session.mjs'),
        env: { LEDGER: ledger },
      },
    });
    const book = await executeOf(client, 'gym_book_session');
    const servers = runningChildren().filter(pid => !before.includes(pid));
    const error = await rejection(book({}));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_REQUEST_FAILED', rpcCode: -32602 });
    expect(error.message).toContain('The training session on Monday is full');
    expect(linesOf(ledger)).toEqual(['booked']);
    expect(servers).toHaveLength(1);
    expect(runningChildren().filter(pid => !before.includes(pid))).toEqual(servers);
  },
);
