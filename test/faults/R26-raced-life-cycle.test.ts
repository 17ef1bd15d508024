import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import { MCPClient, MCPOAuthClientProvider, type MastraFetchLike } from '../../src/client/index.ts';
import { isMCPError } from '../../src/shared/errors.ts';
import { verifies } from '../requirements/requirements.ts';
import { messageOf, rpcResult } from '../support/http-server.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { collectUnhandled } from '../support/unhandled.ts';

const RUNS = scaled(500, 100);
const ORIGIN = 'http://127.0.0.1:3000';

/** What the server does with one request, where it is not what it should. */
type Mood = 'fine' | '401' | '500' | 'forgets' | 'breaks' | 'hangs';
/** What the user does with the page that a login opens. */
type Visit = 'agrees' | 'refuses' | 'never comes back' | 'has no browser';
type Step =
  | { readonly do: 'ping' | 'call' | 'list' | 'disconnect' | 'disconnect one' | 'reconnect' | 'cancel' }
  | { readonly do: 'authenticate'; readonly visit: Visit }
  | { readonly do: 'wait'; readonly turns: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('ping', 'call', 'list', 'disconnect', 'disconnect one', 'reconnect', 'cancel'),
  }),
  fc.record({
    do: fc.constant('authenticate' as const),
    visit: fc.constantFrom<Visit>('agrees', 'refuses', 'never comes back', 'has no browser'),
  }),
  fc.record({ do: fc.constant('wait' as const), turns: fc.integer({ min: 1, max: 30 }) }),
);
const anyMood = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Mood>('fine') },
  { weight: 4, arbitrary: fc.constantFrom<Mood>('401', '500', 'forgets', 'breaks', 'hangs') },
);

/** A protected server and its authorization server as one `fetch`; each request takes the next mood. */
function worldOf(moods: readonly Mood[]): MastraFetchLike {
  let requests = 0;
  const json = (value: unknown, headers: Record<string, string> = {}, status = 200): Response =>
    Response.json(value, { headers, status });
  return async (input, init) => {
    const { pathname } = new URL(input);
    init?.signal?.throwIfAborted();
    await nextTurn();
    if (pathname.includes('oauth-protected-resource'))
      return json({ resource: `${ORIGIN}/mcp`, authorization_servers: [ORIGIN] });
    if (pathname.includes('.well-known')) return json(METADATA);
    if (pathname === '/register') return json({ ...messageOf(init), client_id: 'client' }, {}, 201);
    if (pathname === '/token')
      return json({ access_token: randomUUID(), token_type: 'Bearer', expires_in: 3600 });
    if (init?.method === 'DELETE') return new Response(null, { status: 200 });
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const mood = moods[requests++ % moods.length];
    if (mood === 'hangs') return await untilAborted(init.signal ?? undefined);
    if (mood === 'breaks') throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    if (mood === '401') return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
    if (mood === '500') return new Response('broken', { status: 500 });
    const isKnown = new Headers(init.headers).has('mcp-session-id');
    if (mood === 'forgets' && isKnown) return new Response(null, { status: 404 });
    const answer = rpcResult(messageOf(init));
    return answer === undefined
      ? new Response(null, { status: 202 })
      : json(answer, isKnown ? {} : { 'mcp-session-id': randomUUID() });
  };
}

const METADATA = {
  issuer: ORIGIN,
  authorization_endpoint: `${ORIGIN}/authorize`,
  token_endpoint: `${ORIGIN}/token`,
  registration_endpoint: `${ORIGIN}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
};

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** A user whose next visits are known. */
function userOf(visits: readonly Visit[]): (url: URL) => void {
  let opened = 0;
  return url => {
    const visit = visits[opened++ % visits.length];
    if (visit === 'has no browser') throw new Error('no browser');
    if (visit === 'never comes back') return;
    const back = new URL(url.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('state', url.searchParams.get('state') ?? '');
    if (visit === 'agrees') back.searchParams.set('code', 'code');
    else back.searchParams.set('error', 'access_denied');
    // The login may have ended by now; the browser then finds nobody.
    void fetch(back).then(
      response => response.text(),
      () => undefined,
    );
  };
}

async function take(client: MCPClient, step: Step): Promise<unknown> {
  switch (step.do) {
    case 'ping':
      return client.ping('s');
    case 'call':
      return client
        .toolFromDefinition({
          serverName: 's',
          definition: { name: 'echo', inputSchema: { type: 'object' } },
        })
        .execute({});
    case 'list':
      return client.listToolsWithErrors({ perServerTimeoutMs: 300 });
    case 'disconnect':
      return client.disconnect();
    case 'disconnect one':
      return client.disconnect('s');
    case 'reconnect':
      return client.reconnectServer('s');
    case 'cancel':
      return client.cancelAuthentication('s');
    case 'authenticate':
      return client.authenticate('s', { timeoutMs: 200 });
    case 'wait':
      for (let turn = 0; turn < step.turns; turn += 1) await nextTurn();
      return undefined;
  }
}

const LIMIT_MS = 15_000;

verifies(
  'R26',
  `${RUNS} races of connecting, calling, disconnecting, logging in and cancelling end, with typed errors, in "closed"`,
  async () => {
    using unhandled = collectUnhandled();
    const seen = new Set<string>();
    const broken: unknown[] = [];
    let logins = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 2, maxLength: 12 }),
        fc.array(anyMood, { minLength: 1, maxLength: 12 }),
        async (steps, moods) => {
          const visits = steps.flatMap(step => (step.do === 'authenticate' ? [step.visit] : []));
          const authProvider = new MCPOAuthClientProvider({
            redirectUrl: 'http://127.0.0.1:0/callback',
            clientMetadata: { redirect_uris: ['http://127.0.0.1:0/callback'], client_name: 'Races' },
            onRedirectToAuthorization: userOf(visits),
          });
          const client = new MCPClient({
            id: randomUUID(),
            servers: {
              s: {
                url: `${ORIGIN}/mcp`,
                fetch: worldOf(moods),
                authProvider,
                connectTimeout: 200,
                timeout: 200,
              },
            },
          });
          const chain = [client.getServerStatus()['s']?.state];
          client.onStatusChange(({ previous, status }) => {
            if (previous !== chain.at(-1)) broken.push([...chain, `not ${previous}`]);
            chain.push(status.state);
            seen.add(status.state);
          });
          const taken: Promise<unknown>[] = [];
          for (const step of steps) {
            const result = take(client, step).catch((error: unknown) => error);
            taken.push(result);
            // Only waiting is waited for: everything else races.
            if (step.do === 'wait') await result;
          }
          const outcomes = await within(Promise.all(taken));
          const untyped = outcomes.filter(outcome => outcome instanceof Error && !isMCPError(outcome));
          expect(untyped).toEqual([]);
          logins += steps.filter(
            (step, at) => step.do === 'authenticate' && outcomes[at] === undefined,
          ).length;
          await within(client.disconnect());
          expect(client.getServerStatus()['s']?.state).toBe('closed');
          for (let turn = 0; turn < 20; turn += 1) await nextTurn();
          expect(chain.at(-1)).toBe('closed');
          expect(client.getServerStatus()['s']?.state).toBe('closed');
        },
      ),
      { numRuns: RUNS, seed: 20_251_125 },
    );
    expect(broken).toEqual([]);
    expect(await unhandled.found()).toEqual([]);
    // The races did go everywhere.
    expect(seen).toEqual(new Set(['connecting', 'ready', 'needs-auth', 'failed', 'idle', 'closed']));
    expect(logins).toBeGreaterThan(RUNS / 50);
  },
  SCALE_LIMIT_MS,
);

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not at its end after ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
