/**
 * The stdio transport: JSON-RPC messages, one per line, to and from a child process.
 *
 * Owns what a line means and why the connection ended. The process and its tree are `child-process.ts`; repeating and
 * starting again is the connection's.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import { constants } from 'node:buffer';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { redact, secretsIn } from '../../oauth/redaction.ts';
import type { ResolvedStdioServer } from '../../options.ts';
import { ChildProcess, type ChildLoss } from '../child-process.ts';
import { toPlainText } from '../child-stderr.ts';
import { toFailureResponse, TransportFailure } from '../transport-failure.ts';
import { JsonLineReader } from './json-lines.ts';
import type { OpenTransport, TransportDeps } from './open-transport.ts';

const EXCERPT_LENGTH = 200;
/** What is looked at for it. */
const START_LENGTH = 800;
/** At most this many skipped lines are logged per second. */
const SKIPPED_LOGS_PER_SECOND = 5;

/** Opens the transport to a server that runs as our child process; starting it starts the process. */
export function openStdio(definition: ResolvedStdioServer, deps: TransportDeps): OpenTransport {
  const transport = new StdioTransport(definition, deps);
  return {
    kind: 'stdio',
    transport,
    closeFailure: () => transport.failure,
    stderr: () => transport.child.stderr,
    stderrTail: () => transport.child.stderrTail,
    sideOutput: () => transport.sideOutput,
  };
}

class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly child: ChildProcess;
  /** Why it closed by itself. */
  failure: TransportFailure | undefined;

  readonly #deps: TransportDeps;
  readonly #reader: JsonLineReader;
  /** What the server was given and may write anywhere. */
  readonly #secrets: readonly string[];
  #state: 'new' | 'open' | 'closed' = 'new';
  #skipped = { first: undefined as string | undefined, count: 0, logged: 0, secondStart: 0 };

  constructor(definition: ResolvedStdioServer, deps: TransportDeps) {
    this.#deps = deps;
    this.#secrets = secretsIn(definition.env);
    // What does not fit into a string could not be parsed.
    const limit = Math.min(definition.maxMessageBytes, constants.MAX_STRING_LENGTH);
    this.#reader = new JsonLineReader(limit, {
      onLine: text => this.#receive(text),
      onOther: start => this.#skip(start),
      onTooLarge: (start, size) => this.#refuse(start, size, limit),
    });
    this.child = new ChildProcess(definition, {
      onStdout: chunk => this.#reader.push(chunk),
      onLost: why => this.#finish(this.#toFailure(why)),
    });
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('The transport was started before');
    this.#state = 'open';
    try {
      await this.child.start();
    } catch (error) {
      this.#state = 'closed';
      throw error;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#state !== 'open') {
      const kind = this.failure === undefined ? 'closed' : 'lost';
      const text = this.failure?.message ?? 'the connection is closed';
      throw new TransportFailure(kind, text, { mayHaveExecuted: false, cause: this.failure });
    }
    this.child.write(`${JSON.stringify(message)}\n`);
  }

  /** Closes at once for whoever waits for an answer; settles when nothing of the process tree is left. */
  async close(): Promise<void> {
    this.#finish(undefined);
    await this.child.close();
  }

  /** What the server wrote besides messages, as one clause without secrets. */
  get sideOutput(): string {
    const { first } = this.#skipped;
    const stderrTail = redact(this.child.stderrTail, this.#secrets);
    return [
      ...(first === undefined ? [] : [`its standard output had ${JSON.stringify(first)}`]),
      ...(stderrTail === '' ? [] : [`its standard error ended with ${JSON.stringify(stderrTail)}`]),
    ].join('; ');
  }

  #receive(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#skip(text);
      return;
    }
    // Revision 2025-03-26 has batches.
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (!isMessage(item)) {
        this.#skip(text);
        continue;
      }
      try {
        this.onmessage?.(item);
      } catch (error) {
        this.onerror?.(error as Error);
      }
    }
  }

  /** A line that is no message: servers print banners and logs where they should not. */
  #skip(text: string): void {
    // Redacted before it is cut: half a secret would not be found.
    const start = redact(toPlainText(text.slice(0, START_LENGTH)), this.#secrets);
    const line = start.slice(0, EXCERPT_LENGTH).trim();
    const skipped = this.#skipped;
    skipped.first ??= line;
    skipped.count += 1;
    const now = performance.now();
    if (now - skipped.secondStart >= 1000) {
      skipped.secondStart = now;
      skipped.logged = 0;
    }
    if (skipped.logged >= SKIPPED_LOGS_PER_SECOND) return;
    skipped.logged += 1;
    this.#deps
      .logger()
      .debug(
        `MCP server ${JSON.stringify(this.#deps.serverName)}: line ${skipped.count} on standard output that is no ` +
          `message: ${JSON.stringify(line)}`,
      );
  }

  /** The stream cannot be followed past a message that was not read, so the connection ends with it. */
  #refuse(start: string, size: number, limit: number): void {
    const message = `the server sent a message of at least ${size} bytes, the limit is ${limit}`;
    const failure = new TransportFailure('too-large', message, { mayHaveExecuted: true, size, limit });
    const id = answeredId(start);
    if (id === undefined) {
      this.#finish(failure);
    } else {
      this.onmessage?.(toFailureResponse(id, failure));
      this.#finish(
        new TransportFailure('lost', `closed because ${message}`, { mayHaveExecuted: true, cause: failure }),
      );
    }
    void this.child.close(0);
  }

  #toFailure(why: ChildLoss): TransportFailure {
    const what = `the server process ${typeof why === 'string' ? why : describeExit(why)}`;
    const { sideOutput } = this;
    return new TransportFailure('lost', sideOutput === '' ? what : `${what}; ${sideOutput}`, {
      mayHaveExecuted: true,
      ...(typeof why === 'string' ? {} : { exit: why }),
    });
  }

  #finish(failure: TransportFailure | undefined): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.failure = failure;
    this.#reader.stop();
    this.onclose?.();
  }
}

function describeExit({ code, signal }: Exclude<ChildLoss, string>): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

/** As little as is needed to hand a value to the protocol engine, which checks the rest. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { jsonrpc, id, method } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0') return false;
  if (typeof method === 'string') return true;
  return (typeof id === 'string' || typeof id === 'number') && ('result' in value || 'error' in value);
}

/** The request that a response answers, where its first members tell. */
function answeredId(start: string): RequestId | undefined {
  const head = /^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"(?:[^"\\]|\\.)*")\s*,/.exec(start);
  const rest = head === null ? '' : start.slice(head[0].length);
  return /^\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/.test(rest)
    ? (JSON.parse(head?.[1] ?? 'null') as RequestId)
    : undefined;
}
