/** A Mastra instance served by the adapters of @mastra/server, each on a socket of its own. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Mastra } from '@mastra/core/mastra';
import express from 'express';

export type AdapterName = 'hono' | 'express';

/** `ours` is the copy of core that MCPServer uses, `theirs` the one that the adapters came with. */
export type CoreCopy = 'ours' | 'theirs';

export interface AdapterOptions {
  /** Handed on to every `startHTTP`. */
  readonly mcpOptions?: object;
  /** Express only: whether `express.json()` reads bodies before the adapter. @defaultValue true */
  readonly parsesBodies?: boolean;
  /** Express only: a middleware in front. */
  readonly before?: (req: express.Request & { auth?: unknown }) => void;
}

export interface AdapterHost extends AsyncDisposable {
  readonly origin: string;
  /** One request to a route of the REST interface; the answer is read as JSON. */
  rest(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<RestAnswer>;
}

export interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
}

type MastraServer = new (init: object) => { init(): Promise<void> };

/** The packages of test/foreign, as a program beside them loads them. */
export class Adapters {
  readonly #load: (name: string) => unknown;

  constructor(foreign: string) {
    this.#load = createRequire(`${foreign}/index.js`);
  }

  /** A Mastra instance of either copy of core. */
  createMastra(copy: CoreCopy, config: ConstructorParameters<typeof Mastra>[0]): Mastra {
    if (copy === 'ours') return new Mastra({ logger: false, ...config });
    const theirs = this.#load('@mastra/core/mastra') as { readonly Mastra: typeof Mastra };
    return new theirs.Mastra({ logger: false, ...config });
  }

  /** The handlers of the routes, in the version that the adapters do not bundle. */
  routes(): Readonly<Record<string, { handler(init: object): Promise<unknown> }>> {
    return this.#load('@mastra/server/handlers/mcp') as ReturnType<Adapters['routes']>;
  }

  async serve(name: AdapterName, mastra: Mastra, options: AdapterOptions = {}): Promise<AdapterHost> {
    const { mcpOptions } = options;
    const { MastraServer } = this.#load(`@mastra/${name}`) as { readonly MastraServer: MastraServer };
    const { app, listener } = name === 'hono' ? this.#newHono() : newExpress(options);
    await new MastraServer({ app, mastra, ...(mcpOptions === undefined ? {} : { mcpOptions }) }).init();
    return listen(listener);
  }

  #newHono(): { readonly app: object; readonly listener: RequestListener } {
    const { Hono } = this.#load('hono') as { readonly Hono: new () => { readonly fetch: unknown } };
    const { getRequestListener } = this.#load('@hono/node-server') as {
      readonly getRequestListener: (handler: unknown) => RequestListener;
    };
    const app = new Hono();
    return { app, listener: getRequestListener(app.fetch) };
  }
}

function newExpress({ parsesBodies = true, before }: AdapterOptions): {
  readonly app: object;
  readonly listener: RequestListener;
} {
  const app = express();
  if (parsesBodies) app.use(express.json());
  if (before !== undefined) {
    app.use((req, _res, next) => {
      before(req);
      next();
    });
  }
  return { app, listener: app };
}

async function listen(listener: RequestListener): Promise<AdapterHost> {
  const host = createServer(listener);
  await once(host.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  return {
    origin,
    async rest(method, path, body, headers = {}) {
      const response = await fetch(`${origin}/api${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    },
    async [Symbol.asyncDispose]() {
      const closed = once(host, 'close');
      host.close();
      host.closeAllConnections();
      await closed;
    },
  };
}
