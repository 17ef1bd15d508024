/** Follows one run of an agent: prints every call with its result and its time, and decides about approvals. */
import type { Agent } from '@mastra/core/agent';
import { line } from './transcript.ts';

type Stream = Awaited<ReturnType<Agent['stream']>>;
type Args = Readonly<Record<string, unknown>>;

interface Approval {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Args;
}

export interface FollowedRun {
  /** Result of each call as text, by tool. */
  readonly calls: ReadonlyMap<string, string>;
  readonly approved: readonly string[];
  readonly declined: readonly string[];
  readonly text: string;
}

/** Runs the task to its end; a call that needs approval gets it when `approves` says so. */
export async function follow(
  agent: Agent,
  task: string,
  policy: { approves(toolName: string, args: Args): boolean },
): Promise<FollowedRun> {
  const calls = new Map<string, string>();
  const approved: string[] = [];
  const declined: string[] = [];
  const settings = { maxSteps: 20 };
  let stream = await agent.stream(task, settings);
  for (;;) {
    const approval = await readStream(stream, calls);
    if (approval === undefined) return { calls, approved, declined, text: await stream.text };
    const { toolCallId, toolName, args } = approval;
    const call = { ...settings, runId: stream.runId, toolCallId };
    if (policy.approves(toolName, args)) {
      line('?', `${toolName} needs approval: approved`);
      approved.push(toolName);
      stream = await agent.approveToolCall(call);
    } else {
      line('?', `${toolName} needs approval: declined`);
      declined.push(toolName);
      stream = await agent.declineToolCall({ ...call, reason: 'Documents stay where they are.' });
    }
  }
}

/** Prints what happens until the stream ends; gives the approval the run waits for, if it does. */
async function readStream(stream: Stream, calls: Map<string, string>): Promise<Approval | undefined> {
  const startedAt = new Map<string, number>();
  const readAt = performance.now();
  let approval: Approval | undefined;
  for await (const chunk of stream.fullStream) {
    switch (chunk.type) {
      case 'tool-call':
        line('>', `${chunk.payload.toolName} ${JSON.stringify(chunk.payload.args)}`);
        startedAt.set(chunk.payload.toolCallId, performance.now());
        break;
      case 'tool-result': {
        const { toolName, toolCallId, result } = chunk.payload;
        const text = toText(result);
        calls.set(toolName, text);
        line('<', text, performance.now() - (startedAt.get(toolCallId) ?? readAt));
        break;
      }
      case 'tool-call-approval':
        approval = chunk.payload;
        break;
      case 'tool-error':
        throw new Error(`${chunk.payload.toolName} failed`, { cause: chunk.payload.error });
      case 'error':
        throw new Error('The run failed', { cause: chunk.payload.error });
      case 'tool-output-denied':
        line('<', `${chunk.payload.toolName} did not run`);
        break;
      default:
    }
  }
  return approval;
}

/** What a call returned, as one text: its text blocks, or JSON. */
function toText(result: unknown): string {
  const content = (result as { readonly content?: unknown } | undefined)?.content;
  if (Array.isArray(content)) {
    return content.map(block => (block as { readonly text?: string }).text ?? '').join('\n');
  }
  return typeof result === 'string' ? result : JSON.stringify(result);
}
