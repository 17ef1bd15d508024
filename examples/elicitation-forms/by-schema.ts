/** Answers forms of servers with the controls of a user interface, chosen by the schema of each field. */
import type { ElicitationHandler, ElicitationRequest } from '../../src/index.ts';

type Schema = ElicitationRequest['requestedSchema'];
type Value = string | number | boolean | string[];

/** What a control has to know. */
export interface Control {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly type: string;
  readonly format: string | undefined;
  readonly enum: readonly string[] | undefined;
  readonly required: boolean;
  readonly initial: unknown;
}

// #region form
/** `showControl` resolves to `null` for a field that is left empty, `showPage` to whether the user wants to open it. */
export function answerBySchema(
  showControl: (control: Control) => Promise<Value | null>,
  showPage: (url: string, message: string, serverName: string) => Promise<boolean>,
): ElicitationHandler {
  return async (request, { serverName }) => {
    if (request.mode === 'url') {
      const opened = await showPage(request.url, request.message, serverName);
      return { action: opened ? 'accept' : 'decline' };
    }
    const content: Record<string, Value> = {};
    for (const control of toControls(request.requestedSchema)) {
      const value = await showControl(control);
      if (value !== null) content[control.name] = value;
      else if (control.required) return { action: 'decline' };
    }
    return { action: 'accept', content };
  };
}

function toControls({ properties, required = [] }: Schema): Control[] {
  return Object.entries(properties).map(([name, field]) => ({
    name,
    title: field.title,
    description: field.description,
    type: field.type,
    format: 'format' in field ? field.format : undefined,
    enum: 'enum' in field ? field.enum : undefined,
    required: required.includes(name),
    initial: field.default,
  }));
}
// #endregion form
