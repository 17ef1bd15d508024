import { describe, expect, test } from 'vitest';
import {
  isLevelWanted,
  isLoggingLevel,
  loggingLevels,
  sendLoggingMessage,
} from '../../src/server/capabilities/logging.ts';
import { publish, publishOrThrow } from '../../src/server/sessions/notifications.ts';
import type { ServerEventTarget } from '../../src/server/sessions/notifications.ts';
import { verifies } from '../requirements/requirements.ts';

const event = { kind: 'tools_list_changed' } as const;
const target = (deliver: () => Promise<'sent' | 'not-wanted'>): ServerEventTarget => ({ deliver });
const sent = target(async () => 'sent');
const unwanted = target(async () => 'not-wanted');
const broken = target(() => Promise.reject(new Error('gone')));
const throwing = target(() => {
  throw new Error('at once');
});
const hanging = target(() => new Promise(() => undefined));

describe('publishing', () => {
  verifies(['S202', 'S208'], 'tells everybody at once, and reports who was told', async () => {
    const targets = [sent, unwanted, broken, sent, throwing];
    expect(await publish(event, targets)).toEqual({
      sent: 2,
      notWanted: 1,
      failures: [
        expect.objectContaining({ message: 'at once' }),
        expect.objectContaining({ message: 'gone' }),
      ],
    });
  });

  verifies(['S202', 'S208'], 'does not wait for a client that does not take the event', async () => {
    const report = await publish(event, [hanging, sent], { deliveryMs: 20 });
    expect(report).toMatchObject({ sent: 1, failures: [expect.any(Error)] });
  });

  verifies('S208', 'is an error only when nobody of those who are there could be told', async () => {
    const debugged: string[] = [];
    const debug = (message: string): void => void debugged.push(message);
    expect(await publishOrThrow(event, [], debug)).toBe(0);
    expect(await publishOrThrow(event, [unwanted], debug)).toBe(0);
    expect(await publishOrThrow(event, [broken, sent, sent], debug)).toBe(2);
    expect(debugged).toEqual([expect.stringContaining('tools_list_changed: gone')]);
    await expect(publishOrThrow(event, [broken, broken], debug)).rejects.toMatchObject({
      code: 'MCP_SERVER_CLIENT_UNREACHABLE',
    });
  });
});

describe('log levels', () => {
  verifies('S205', 'are ordered as in RFC 5424', () => {
    for (const [index, minimum] of loggingLevels.entries()) {
      expect(loggingLevels.filter(level => isLevelWanted(level, minimum))).toEqual(
        loggingLevels.slice(index),
      );
    }
    expect(loggingLevels.every(level => isLevelWanted(level, undefined))).toBe(true);
  });

  test('are spelled exactly', () => {
    expect(loggingLevels.every(isLoggingLevel)).toBe(true);
    for (const other of ['warn', 'Error', '', 'toString', 4, undefined])
      expect(isLoggingLevel(other)).toBe(false);
  });

  test('a message with another level is refused', async () => {
    const send = sendLoggingMessage({ level: 'loud' as never, data: 1 }, async () => undefined);
    await expect(send).rejects.toMatchObject({ code: 'MCP_SERVER_PARAMS_INVALID' });
  });
});
