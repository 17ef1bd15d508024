// The tools every measured server has: two small ones (echo, cpu) and any number of realistic ones with about
// 1.5 KB of JSON Schema each.
import { z } from 'zod';

const WORDS =
  'search create update delete list issue invoice ticket order customer repository calendar'.split(' ');
const STATUS = ['open', 'closed', 'in_progress', 'blocked', 'archived'];
const LABELS = ['bug', 'feature', 'docs', 'infra', 'security'];
const ROLES = ['admin', 'member', 'guest'];
const CURRENCIES = ['EUR', 'USD', 'GBP'];

export const ECHO_INPUT = { text: 'hello' };
export const echo = ({ text }) => ({ text });
/** CPU time of the serving process so far, in microseconds: read over the connection that is measured. */
export const cpu = () => {
  const { user, system } = process.cpuUsage();
  return { micros: user + system };
};

export const toolName = i => `${WORDS[i % 12]}_${WORDS[(i * 7 + 5) % 12]}_${i}`;
export const toolDescription = i =>
  `${WORDS[i % 12]} a ${WORDS[(i * 7 + 5) % 12]} record (tool ${i}). Use it when the user asks for that; ` +
  'returns the matching records with their ids, status and dates.';

/** The arguments of tool number i as a zod schema; a new object on every call. */
export function zodInput(zod = z) {
  const { object, string, number, boolean, array, enum: oneOf, literal, discriminatedUnion } = zod;
  const person = object({ id: string(), name: string().optional(), role: oneOf(ROLES).optional() });
  const price = object({ least: number().optional(), most: number().optional(), in: oneOf(CURRENCIES) });
  return object({
    query: string().min(1).max(500).describe('Free text to look for'),
    status: oneOf(STATUS).optional().describe('Only records with this status'),
    limit: number().int().min(1).max(100).default(20),
    cursor: string().optional().describe('Continue after this cursor'),
    includeArchived: boolean().default(false),
    owner: person.optional(),
    watchers: array(person).max(20).optional(),
    filter: object({
      createdAfter: string().optional().describe('ISO date'),
      labels: array(oneOf(LABELS)).optional(),
      price: price.optional(),
    }).optional(),
    target: discriminatedUnion('kind', [
      object({ kind: literal('id'), id: string() }),
      object({ kind: literal('slug'), slug: string() }),
    ]).optional(),
  });
}

/** Tool number i on the wire; `reused: 'ref'` gives it $defs and $ref, `output` an output schema. */
export function wireTool(i, { input = zodInput(), output = false, ...options } = {}) {
  const inputSchema = z.toJSONSchema(input, { io: 'input', ...options });
  const outputSchema = objectOf({ items: { type: 'array', items: objectOf({ id: TEXT, title: TEXT }) } });
  return { name: toolName(i), description: toolDescription(i), inputSchema, ...(output && { outputSchema }) };
}

const TEXT = { type: 'string' };
const objectOf = properties => ({ type: 'object', properties, required: Object.keys(properties) });

/** What a low-level server answers to tools/list: echo, cpu and the given tools. */
export const wireTools = more => [
  { name: 'echo', description: 'Echo the text', inputSchema: objectOf({ text: TEXT }) },
  { name: 'cpu', description: 'CPU time of this process', inputSchema: objectOf({}) },
  ...more,
];

/** What a low-level server answers to tools/call. */
export function answerCall({ name, arguments: input }) {
  const output = name === 'echo' ? echo(input) : name === 'cpu' ? cpu() : { ok: true };
  return { content: [{ type: 'text', text: JSON.stringify(output) }] };
}
