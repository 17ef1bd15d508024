/**
 * Core's validation errors as one readable line that names every path.
 *
 * Core reports a failed validation as a value, with its issues as a tree. Does not validate.
 */
import type { ValidationError } from '@mastra/core/tools';
import { formatIssues } from '../../shared/schema.ts';
import type { SchemaIssue } from '../../shared/schema.ts';

/** One place where arguments or output break their schema. */
export type ToolIssue = SchemaIssue;

/** Issues beyond this many say nothing new. */
const MAX_ISSUES = 20;

/** The issues of a validation error, in the order of its tree. */
export function toToolIssues(error: ValidationError): readonly ToolIssue[] {
  const issues: ToolIssue[] = [];
  collect(error.validationErrors, '', issues);
  return issues;
}

/** Those issues as a line. */
export function formatToolIssues(issues: readonly ToolIssue[]): string {
  return issues.length === 0 ? 'the value does not fit the schema' : formatIssues(issues);
}

function collect(node: unknown, path: string, issues: ToolIssue[]): void {
  if (typeof node !== 'object' || node === null || issues.length >= MAX_ISSUES) return;
  const { errors, fields } = node as { readonly errors?: unknown; readonly fields?: unknown };
  if (Array.isArray(errors)) {
    for (const message of errors) issues.push({ path, message: String(message) });
  }
  if (typeof fields !== 'object' || fields === null) return;
  for (const [key, child] of Object.entries(fields)) collect(child, `${path}/${key}`, issues);
}
