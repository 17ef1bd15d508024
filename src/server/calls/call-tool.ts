/**
 * The inbound pipeline of a tool call: find, authorise, validate, approve, execute, in this order.
 *
 * One for the wire, for `executeTool`, for serverless and for fetch. Owns the order and its outcomes; writes no JSON-RPC and
 * no tool result.
 */
import type { Mastra } from '@mastra/core/mastra';
import type { ValidationError } from '@mastra/core/tools';
import type { MCPToolCallError } from '../../shared/errors.ts';
import { canElicit } from './ask.ts';
import type { Authorization } from './authorization.ts';
import type { CallContext } from './call-context.ts';
import type { ElicitParams } from './elicitation.ts';
import { describeMissing, toApprovalQuestion, toResumeQuestion } from './question.ts';
import { runInRequestSpan } from './request-span.ts';
import type { SpanEnd } from './request-span.ts';
import type { HostExecution, ServedTool, SuspendedRun, ToolInvocation, ToolRun } from './served-tool.ts';
import { toToolFailure } from './tool-failure.ts';
import { toToolIssues } from './tool-issues.ts';
import type { ToolIssue } from './tool-issues.ts';
import type { ToolTable } from './tool-table.ts';

/** A call of a tool. */
export interface ToolCall {
  readonly name: string;
  readonly args: unknown;
  readonly call: CallContext;
  /** Given when the host itself calls: it runs what needs approval, and answers what suspends. */
  readonly host?: HostExecution | undefined;
}

/** What the pipeline works with. */
export interface CallToolDeps {
  readonly table: () => ToolTable;
  readonly authorization: Authorization;
  readonly mastra: () => Mastra | undefined;
  readonly serverId: () => string;
  readonly serverName: string;
  readonly serverVersion: string;
  readonly toolApproval: 'elicit' | 'run';
}

/** How a call ended. */
export type ToolOutcome =
  | {
      readonly status: 'completed';
      readonly tool: ServedTool;
      readonly output: unknown;
      readonly shown: unknown;
    }
  | {
      readonly status: 'invalid-input' | 'invalid-output';
      readonly issues: readonly ToolIssue[];
      /** Core's own report, which the host's call resolves to. */
      readonly error: ValidationError;
    }
  | { readonly status: 'unknown-tool' | 'denied' | 'not-approved' }
  | { readonly status: 'needs-capability'; readonly capability: string }
  | {
      readonly status: 'suspended';
      readonly runId: string | undefined;
      readonly payload: unknown;
      /** Names what nobody gave. */
      readonly missing: string;
      readonly output: unknown;
    }
  | { readonly status: 'failed'; readonly error: MCPToolCallError };

/** How often one call may suspend before its caller is no longer asked. */
const MAX_ANSWERS = 20;

/** Runs one call through the pipeline. Rejects only when authorisation itself fails. */
export async function callTool(toolCall: ToolCall, deps: CallToolDeps): Promise<ToolOutcome> {
  const { name, call } = toolCall;
  const table = deps.table();
  const tool = toolCall.host === undefined ? table.find(name) : table.resolve(name);
  if (tool === undefined) return { status: 'unknown-tool' };
  await deps.authorization.identify(call);
  if (!(await deps.authorization.mayUse(tool.name, call))) return { status: 'denied' };
  const args = toolCall.args ?? {};
  return runInRequestSpan(
    {
      call,
      mastra: deps.mastra(),
      serverId: deps.serverId(),
      serverName: deps.serverName,
      serverVersion: deps.serverVersion,
      targetName: tool.name,
      input: args,
    },
    async span => {
      const refusal =
        toolCall.host === undefined ? await refuseUnapproved(tool, args, call, deps) : undefined;
      if (refusal !== undefined) return refusal;
      const invocation: ToolInvocation = { call, mastra: deps.mastra(), span, host: toolCall.host };
      return follow(tool, args, await tool.run(args, invocation), toolCall, deps);
    },
    toSpanEnd,
  );
}

/** Asks the client before a tool that needs approval; `undefined` means it may run. */
async function refuseUnapproved(
  tool: ServedTool,
  args: unknown,
  call: CallContext,
  deps: CallToolDeps,
): Promise<ToolOutcome | undefined> {
  if (deps.toolApproval === 'run' || !tool.approvable) return undefined;
  const checked = tool.checkInput(args);
  if (checked.error !== undefined) return toInvalid(tool, args, checked.error);
  if (!(await tool.needsApproval(checked.value, call))) return undefined;
  if (!canElicit(call)) return { status: 'needs-capability', capability: 'elicitation' };
  try {
    const approved = await isApproved(call, toApprovalQuestion(tool.name, deps.serverName, args), 'approval');
    return approved ? undefined : { status: 'not-approved' };
  } catch (error) {
    return toFailed(tool, error, deps);
  }
}

async function isApproved(call: CallContext, question: ElicitParams, key: string): Promise<boolean> {
  const answer = await call.ask('elicitation', question, { key });
  return answer.action === 'accept' && answer.content?.['approve'] === true;
}

/** Takes a run to its end: answers it for as long as the client can and will. */
async function follow(
  tool: ServedTool,
  args: unknown,
  first: ToolRun,
  { call, host }: ToolCall,
  deps: CallToolDeps,
): Promise<ToolOutcome> {
  let run = first;
  const limit = host === undefined ? MAX_ANSWERS : 0;
  for (let answers = 0; run.status === 'suspended' && answers < limit; answers += 1) {
    const next = await answerRun(tool, run.suspension, call, deps.serverName, `resume:${answers}`);
    if (next === undefined) break;
    run = next;
  }
  switch (run.status) {
    case 'completed':
      return {
        status: 'completed',
        tool,
        output: run.output,
        shown: run.shown ? run.shown.value : run.output,
      };
    case 'invalid':
      return toInvalid(tool, args, run.error);
    case 'failed':
      return toFailed(tool, run.cause, deps);
    case 'suspended': {
      const { runId, payload, resumeSchema } = run.suspension;
      const missing = run.suspension.approval === undefined ? describeMissing(resumeSchema) : 'an approval';
      return { status: 'suspended', runId, payload, missing, output: run.output };
    }
  }
}

/** Asks the client what a run waits for and goes on; `undefined` when there is nothing to go on with. */
async function answerRun(
  tool: ServedTool,
  { approval, payload, resumeSchema, resume }: SuspendedRun,
  call: CallContext,
  serverName: string,
  key: string,
): Promise<ToolRun | undefined> {
  if (resume === undefined || !canElicit(call)) return undefined;
  try {
    if (approval !== undefined) {
      const question = toApprovalQuestion(approval.toolName, serverName, approval.args);
      return await resume({ approved: await isApproved(call, question, key) });
    }
    const question = toResumeQuestion(tool.name, payload, resumeSchema);
    if (question === undefined) return undefined;
    const answer = await call.ask('elicitation', question, { key });
    return answer.action === 'accept' ? await resume(answer.content) : undefined;
  } catch (cause) {
    return { status: 'failed', cause };
  }
}

function toFailed(tool: ServedTool, cause: unknown, deps: CallToolDeps): ToolOutcome {
  return { status: 'failed', error: toToolFailure(tool.name, deps.serverName, cause) };
}

/** Core reports arguments and output alike; arguments that fit by themselves were not what failed. */
function toInvalid(tool: ServedTool, args: unknown, error: ValidationError): ToolOutcome {
  const isInput = tool.checkInput(args).error !== undefined;
  return { status: isInput ? 'invalid-input' : 'invalid-output', issues: toToolIssues(error), error };
}

function toSpanEnd(outcome: ToolOutcome): SpanEnd {
  switch (outcome.status) {
    case 'completed':
      return { output: outcome.shown };
    case 'failed':
      return { error: outcome.error };
    case 'invalid-input':
    case 'invalid-output':
      return { error: new Error(outcome.error.message) };
    case 'suspended':
      return { output: { status: 'suspended', runId: outcome.runId } };
    default:
      return { error: new Error(outcome.status) };
  }
}
