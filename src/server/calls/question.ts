/**
 * The wording of the questions this server asks by itself: may this tool run, and what a run waits for.
 *
 * Owns masking and cutting of what is shown. Does not ask.
 */
import type { JsonSchema } from '../../shared/schema.ts';
import { toJsonValue } from '../../shared/json-value.ts';
import type { ElicitFormParams } from './elicitation.ts';
import { formDefect, toFormSchema } from './form-schema.ts';

/** Longest JSON shown in a question. */
const MAX_SHOWN = 1_000;

/** Keys whose values are nobody's business, whatever their case and separators. */
const SECRET_KEY =
  /pass(?:word|wd|phrase)?$|secret|token|api[-_]?key|auth|credential|private[-_]?key|cookie|session|pin$|cvv|ssn/i;

/** Asks whether a tool may run with these arguments. */
export function toApprovalQuestion(toolName: string, serverName: string, args: unknown): ElicitFormParams {
  return {
    message:
      `Allow the tool ${JSON.stringify(toolName)} of the server ${JSON.stringify(serverName)} to run with these arguments? ` +
      toShownJson(args),
    requestedSchema: {
      type: 'object',
      properties: {
        approve: { type: 'boolean', title: 'Approve', description: 'Whether the tool may run once' },
      },
      required: ['approve'],
    },
  };
}

/** Asks for what a suspended run needs; `undefined` when a form cannot ask for it. */
export function toResumeQuestion(
  toolName: string,
  payload: unknown,
  resumeSchema: JsonSchema | undefined,
): ElicitFormParams | undefined {
  if (resumeSchema === undefined || formDefect(resumeSchema) !== undefined) return undefined;
  const told = payload === undefined ? '' : `: ${toShownJson(payload)}`;
  return {
    message: `The tool ${JSON.stringify(toolName)} needs your input to go on${told}`,
    requestedSchema: toFormSchema(resumeSchema),
  };
}

/** Names what a suspended run waits for. */
export function describeMissing(resumeSchema: JsonSchema | undefined): string {
  const properties = resumeSchema?.['properties'];
  if (typeof properties !== 'object' || properties === null) return 'input';
  const required: unknown = resumeSchema?.['required'];
  const names = Array.isArray(required) && required.length > 0 ? required : Object.keys(properties);
  return names.length === 0 ? 'input' : names.map(name => JSON.stringify(name)).join(', ');
}

/** JSON for a person: secrets masked, cut to a length that can be read. */
export function toShownJson(value: unknown): string {
  let json: string;
  try {
    json = JSON.stringify(toJsonValue(value), maskSecret) ?? 'nothing';
  } catch {
    return '(not shown: it has no JSON form)';
  }
  return json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN)}…` : json;
}

function maskSecret(key: string, value: unknown): unknown {
  return key !== '' && value !== null && SECRET_KEY.test(key) ? '***' : value;
}
