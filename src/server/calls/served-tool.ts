/**
 * What the pipeline and the listings know of a tool, whatever it was made of.
 *
 * Owns the shapes only: tools of users, agents and workflows each fill them in a file of their own.
 */
import type { Mastra } from '@mastra/core/mastra';
import type { ValidationError } from '@mastra/core/tools';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchema } from '../../shared/schema.ts';
import type { CallContext } from './call-context.ts';
import type { RequestSpan } from './request-span.ts';

/** What a host may hand over with its own call of a tool. */
export interface HostExecution {
  readonly messages?: readonly unknown[] | undefined;
  readonly toolCallId?: string | undefined;
  readonly resumeData?: unknown;
  readonly suspendPayload?: unknown;
}

/** Everything around one run of a tool. */
export interface ToolInvocation {
  readonly call: CallContext;
  readonly mastra: Mastra | undefined;
  readonly span: RequestSpan | undefined;
  readonly host: HostExecution | undefined;
}

/** A run that waits for somebody. */
export interface SuspendedRun {
  /** Absent where the run cannot be found again. */
  readonly runId: string | undefined;
  readonly payload: unknown;
  /** What an answer must look like, where that is known. */
  readonly resumeSchema: JsonSchema | undefined;
  /** Set when what is wanted is a yes or no to a tool that an agent wants to call. */
  readonly approval?: { readonly toolName: string; readonly args: unknown } | undefined;
  /** Goes on with an answer; `undefined` where it cannot. */
  readonly resume: ((data: unknown) => Promise<ToolRun>) | undefined;
}

/** How a run of a tool ended, or where it stands. `output` is what the host's own call gets. */
export type ToolRun =
  | {
      readonly status: 'completed';
      readonly output: unknown;
      /** What a client gets, where it is not the output itself. */
      readonly shown?: { readonly value: unknown } | undefined;
    }
  | { readonly status: 'invalid'; readonly error: ValidationError }
  | { readonly status: 'suspended'; readonly output: unknown; readonly suspension: SuspendedRun }
  | { readonly status: 'failed'; readonly cause: unknown };

/** Arguments checked without running anything. */
export type CheckedInput =
  { readonly value: unknown; readonly error?: undefined } | { readonly error: ValidationError };

/** A tool as this server offers it. */
export interface ServedTool {
  /** Under which clients call it. */
  readonly name: string;
  /** The id it has by itself; equal to `name` for agents and workflows. */
  readonly id: string;
  readonly toolType: 'agent' | 'workflow' | undefined;
  /** The entry of tools/list. Made when it is first asked for. */
  readonly definition: ToolDefinition;
  /** Checks arguments as `run` will. */
  checkInput(args: unknown): CheckedInput;
  /** Whether `needsApproval` can be true at all, so that most calls are validated once. */
  readonly approvable: boolean;
  /** Whether somebody must agree before it runs. A predicate that throws means yes. */
  needsApproval(args: unknown, call: CallContext): Promise<boolean>;
  /** Runs it. Does not reject: what it throws comes back as `failed`. */
  run(args: unknown, invocation: ToolInvocation): Promise<ToolRun>;
  /** What core converts for `tools()`. */
  toCoreSource(): object;
}
