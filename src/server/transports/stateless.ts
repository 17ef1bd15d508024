/**
 * POSTs that stand alone: one Exchange, one Session.
 *
 * Owns the SDK Transport of such a session. Keeps nothing between requests, and never asks the client anything: its
 * answer could only come with another request.
 */
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MCPServerError } from '../../shared/errors.ts';
import type { Body } from '../http/guards.ts';
import { isAnswer, isQuestion, requestsOf } from '../sessions/wire-message.ts';
import type { Session } from '../sessions/session-binding.ts';
import { Channel } from './channel.ts';
import { Reply } from './reply.ts';
import { toExtra } from './session-transport.ts';
import type { RequestFrame, TransportHooks } from './session-transport.ts';

class StatelessTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  reply: Reply | undefined;
  /** Requests that the engine has not answered. */
  running: number;

  constructor(running: number) {
    this.running = running;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isAnswer(message)) {
      this.running -= 1;
      return this.reply?.answer(message);
    }
    if (isQuestion(message))
      throw new MCPServerError('MCP_SERVER_CLIENT_UNREACHABLE', {
        message: 'The server keeps no sessions, so the client cannot be asked',
        transport: 'http',
      });
    if (options?.relatedRequestId !== undefined && this.reply?.carries === true)
      return this.reply.tell(message);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}

/** Answers the messages of one POST by a session of their own. What is no request has nobody to go to. */
export async function answerStateless(
  frame: RequestFrame,
  body: Body,
  createSession: () => Session,
  hooks: TransportHooks,
): Promise<void> {
  const { exchange, settings, headers } = frame;
  const requests = requestsOf(body.messages);
  if (requests.length === 0) {
    exchange.answer(202, headers);
    return;
  }
  const session = createSession();
  const transport = new StatelessTransport(requests.length);
  await session.connect(transport);
  const reply: Reply = new Reply({
    exchange,
    requests,
    isBatch: body.isBatch,
    form: settings.form,
    headers,
    stream: settings.stream,
    channel: new Channel('', undefined, hooks.onError),
    priming: { marks: false, retryMs: undefined },
    onLost: () => {},
    onEnd: () => {
      hooks.onReplyEnd(reply);
      // A session whose calls are all answered holds nothing; closing it would only abort what is over.
      if (transport.running > 0) session.close().catch(hooks.onError);
    },
  });
  transport.reply = reply;
  hooks.onReplyStart(reply);
  const extra = toExtra(frame);
  for (const request of requests) transport.onmessage?.(request, extra);
}
