/**
 * Workflows as tools: `run_<key>` takes the workflow's input and answers with its result.
 *
 * Owns what each status of a run means to a caller, how a run that waits goes on, and its cancellation. Core does not
 * check permissions when a workflow starts: the pipeline did.
 */
import type { PublicSchema } from '@mastra/core/schema';
import type { ToolExecutionContext } from '@mastra/core/tools';
import type { Workflow } from '@mastra/core/workflows';
import { toJsonSchema } from '../../shared/schema.ts';
import type { JsonSchema } from '../../shared/schema.ts';
import { DerivedTool, requireDescription } from './derived-tool.ts';
import type { ServedTool, ToolInvocation, ToolRun } from './served-tool.ts';

type Run = Awaited<ReturnType<Workflow['createRun']>>;
type RunResult = Awaited<ReturnType<Run['start']>>;

/** Settings of all workflows of a server. */
export interface WorkflowToolOptions {
  readonly warn: (message: string) => void;
}

/**
 * Makes a tool of a workflow.
 *
 * @throws MCPServerError `MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED` when the workflow has no description.
 */
export function createWorkflowTool(
  key: string,
  workflow: Workflow,
  options: WorkflowToolOptions,
): ServedTool {
  const description = requireDescription('Workflow', workflow.id, key, workflow.description);
  const name = `run_${key}`;
  return new DerivedTool({
    name,
    toolType: 'workflow',
    description: `Run workflow '${key}'. Workflow description: ${description}`,
    inputSchema: workflow.inputSchema,
    warn: options.warn,
    start: async (args, invocation) => new WorkflowRun(workflow, invocation).start(args),
    execute: async (args, context) => {
      const run = await workflow.createRun();
      const { requestContext } = context as ToolExecutionContext;
      return run.start({
        inputData: args,
        ...(requestContext === undefined ? {} : { requestContext }),
      });
    },
  });
}

/** One run, from its start to its end. */
class WorkflowRun {
  readonly #workflow: Workflow;
  readonly #invocation: ToolInvocation;

  constructor(workflow: Workflow, invocation: ToolInvocation) {
    this.#workflow = workflow;
    this.#invocation = invocation;
  }

  async start(args: unknown): Promise<ToolRun> {
    const run = await this.#workflow.createRun();
    return this.#follow(run, () => run.start({ inputData: args ?? {}, ...this.#options() }));
  }

  /** Waits for a run and cancels it with the call. */
  async #follow(run: Run, go: () => Promise<RunResult>): Promise<ToolRun> {
    const { signal } = this.#invocation.call;
    // A run that cannot be cancelled any more has ended, and the caller has gone: nothing is left to report.
    const cancel = (): void => void run.cancel().catch(() => undefined);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (signal.aborted) cancel();
      return this.#toToolRun(run, await go());
    } catch (error) {
      return { status: 'failed', cause: error };
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  #toToolRun(run: Run, result: RunResult): ToolRun {
    switch (result.status) {
      case 'success':
        return { status: 'completed', output: result.result };
      case 'failed':
        return { status: 'failed', cause: toThrown(result.error) };
      case 'tripwire':
        return { status: 'failed', cause: result.tripwire.reason };
      case 'suspended':
        return this.#toSuspended(run, result);
      default:
        return { status: 'failed', cause: `The workflow ended as ${JSON.stringify(result.status)}` };
    }
  }

  #toSuspended(run: Run, result: RunResult & { status: 'suspended' }): ToolRun {
    const [path] = result.suspended;
    return {
      status: 'suspended',
      output: result,
      suspension: {
        runId: run.runId,
        payload: result.suspendPayload as unknown,
        resumeSchema: resumeSchemaAt(this.#workflow, path),
        resume: this.#isKept
          ? data => this.#follow(run, () => run.resume({ step: path, resumeData: data, ...this.#options() }))
          : undefined,
      },
    };
  }

  /** Only a Mastra instance keeps the snapshot that a suspended run goes on from. */
  get #isKept(): boolean {
    return this.#invocation.mastra !== undefined || this.#workflow.mastra !== undefined;
  }

  #options(): Pick<ToolExecutionContext, 'requestContext' | 'tracingContext'> {
    const { call, span } = this.#invocation;
    return {
      requestContext: call.requestContext,
      ...(span === undefined ? {} : { tracingContext: span.tracingContext }),
    };
  }
}

/**
 * What a step threw. When it was no error, core makes one of it: its text is then the JSON of the object, which nobody wrote
 * to be read, and the fields of the object lie beside it.
 */
function toThrown(error: Readonly<Error>): unknown {
  const { message, name: _, stack: __, ...fields } = { ...error };
  return typeof message === 'string' && isJsonOf(message, fields) ? fields : error;
}

function isJsonOf(text: string, fields: Readonly<Record<string, unknown>>): boolean {
  if (!text.startsWith('{')) return false;
  try {
    const keys = Object.keys(JSON.parse(text) as object);
    return keys.every(key => key === 'stack' || key === 'name' || Object.hasOwn(fields, key));
  } catch {
    return false;
  }
}

interface StepLike {
  readonly resumeSchema?: PublicSchema;
  readonly steps?: Readonly<Record<string, StepLike>>;
}

/** The schema of the answer that the step at the end of a path waits for. */
function resumeSchemaAt(workflow: Workflow, path: readonly string[]): JsonSchema | undefined {
  let step: StepLike | undefined = workflow;
  for (const id of path) step = step?.steps?.[id];
  try {
    return toJsonSchema(step?.resumeSchema, 'input');
  } catch {
    return undefined;
  }
}
