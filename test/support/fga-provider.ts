/** A permission store with core's interface for FGA providers, which remembers every question it was asked. */
import { FGADeniedError } from '@mastra/core/auth/ee';
import type { FGACheckParams, IFGAProvider } from '@mastra/core/auth/ee';

/** One question: may this user do this with that? */
export interface FgaQuestion {
  readonly user: unknown;
  readonly permission: string;
  readonly type: string;
  readonly id: string;
  /** What the asker told beside it. */
  readonly context: FGACheckParams['context'];
}

export class FgaProvider implements IFGAProvider {
  readonly questions: FgaQuestion[] = [];
  readonly #isAllowed: (question: FgaQuestion) => boolean | Promise<boolean>;

  /** The rule may reject: that is a provider which fails. */
  constructor(isAllowed: (question: FgaQuestion) => boolean | Promise<boolean>) {
    this.#isAllowed = isAllowed;
  }

  async check(user: unknown, { resource, permission, context }: FGACheckParams): Promise<boolean> {
    const { type, id } = resource;
    const question = { user, permission: [permission].flat().join(' '), type, id, context };
    this.questions.push(question);
    return this.#isAllowed(question);
  }

  async require(user: unknown, params: FGACheckParams): Promise<void> {
    if (await this.check(user, params)) return;
    throw new FGADeniedError(user, params.resource, params.permission);
  }

  async filterAccessible<T extends { id: string }>(
    user: unknown,
    resources: T[],
    type: string,
    permission: FGACheckParams['permission'],
  ): Promise<T[]> {
    const allowed = await Promise.all(
      resources.map(({ id }) => this.check(user, { resource: { type, id }, permission })),
    );
    return resources.filter((_, index) => allowed[index]);
  }

  /** The questions since the last time, as text: `<permission> <type> <id>`. */
  take(): string[] {
    return this.questions.splice(0).map(({ permission, type, id }) => `${permission} ${type} ${id}`);
  }
}
