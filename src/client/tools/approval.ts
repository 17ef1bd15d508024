/**
 * `requireToolApproval` of a server definition as the hook of the agent loop.
 *
 * Owns the translation only. The loop of core enforces approval; a direct `tool.execute` does not ask.
 */
import type { NeedsApprovalFn, ToolAnnotations } from '@mastra/core/tools';
import type { RequireToolApproval } from '../options.ts';

/** What a tool needs so that the agent loop asks; empty when nothing is to be approved. */
export interface ApprovalFields {
  readonly requireApproval?: true;
  readonly needsApprovalFn?: NeedsApprovalFn;
}

/** Fails closed: a policy that throws, rejects or gives anything but `false` means approval is needed. */
export function toApprovalFields(
  policy: RequireToolApproval,
  tool: { readonly toolName: string; readonly annotations: ToolAnnotations | undefined },
  onPolicyError: (error: unknown) => void,
): ApprovalFields {
  if (policy === false) return {};
  if (policy === true) return { requireApproval: true };
  const needsApprovalFn: NeedsApprovalFn = async (args: unknown, context) => {
    try {
      const needed: unknown = await policy({
        toolName: tool.toolName,
        args: (args ?? {}) as Record<string, unknown>,
        ...(context?.requestContext === undefined ? {} : { requestContext: withGet(context.requestContext) }),
        ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
      });
      return needed !== false;
    } catch (error) {
      onPolicyError(error);
      return true;
    }
  };
  return { requireApproval: true, needsApprovalFn };
}

/** X05: the plain view of a request context also answers `get(key)`, as the one handed to `fetch` does. */
function withGet(view: Record<string, unknown>): Record<string, unknown> {
  if (Object.hasOwn(view, 'get')) return view;
  return Object.defineProperty({ ...view }, 'get', {
    value: (key: string): unknown => (Object.hasOwn(view, key) ? view[key] : undefined),
  });
}
