import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  extractBearerToken,
  generateProtectedResourceMetadata,
  generateWWWAuthenticateHeader,
} from '../../src/server/index.ts';
import { readAuthorization } from '../../src/server/oauth/bearer-token.ts';
import { verifies } from '../requirements/requirements.ts';
import { parseChallenge } from './oauth-harness.ts';

describe('generateWWWAuthenticateHeader', () => {
  verifies('S251', 'writes the metadata URL first, then the parameters in their order', () => {
    expect(generateWWWAuthenticateHeader()).toBe('Bearer');
    expect(generateWWWAuthenticateHeader({})).toBe('Bearer');
    expect(
      generateWWWAuthenticateHeader({
        resourceMetadataUrl: 'https://x/y',
        additionalParams: { realm: 'r', scope: 'a b', error: 'invalid_token', absent: undefined },
      }),
    ).toBe('Bearer resource_metadata="https://x/y", realm="r", scope="a b", error="invalid_token"');
  });

  verifies('S251', "is read by the SDK's client", () => {
    const header = generateWWWAuthenticateHeader({
      resourceMetadataUrl: 'https://x/y',
      additionalParams: { scope: 'a b', error: 'insufficient_scope' },
    });
    const response = new Response(null, { status: 403, headers: { 'www-authenticate': header } });
    expect(extractWWWAuthenticateParams(response)).toMatchObject({
      resourceMetadataUrl: new URL('https://x/y'),
      scope: 'a b',
      error: 'insufficient_scope',
    });
  });

  verifies('M3', 'makes one clean header of whatever a description holds', () => {
    const describe_ = (text: string): string =>
      generateWWWAuthenticateHeader({
        additionalParams: { error: 'invalid_token', error_description: text },
      });
    expect(describe_('a\r\nSet-Cookie: x')).toBe(
      'Bearer error="invalid_token", error_description="aSet-Cookie: x"',
    );
    expect(describe_('say "no\\yes"\u0000\u007f ü €')).toBe(
      'Bearer error="invalid_token", error_description="say \\"no\\\\yes\\"  "',
    );
    expect(parseChallenge(describe_('x'.repeat(5000)))['error_description']).toHaveLength(256);
  });

  verifies('M3', 'names only the errors that RFC 6750 knows, and only parameters that are tokens', () => {
    for (const error of ['invalid_request', 'invalid_token', 'insufficient_scope'])
      expect(generateWWWAuthenticateHeader({ additionalParams: { error } })).toBe(`Bearer error="${error}"`);
    const additionalParams = { error: 'expired", x="', 'a b': '1', 'c="': '2', 'd\n': '3', ok: '4' };
    expect(generateWWWAuthenticateHeader({ additionalParams })).toBe('Bearer ok="4"');
  });

  verifies('M3', 'gives back what can be sent of any text, and nothing beside it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.string(), (description, realm) => {
        const header = generateWWWAuthenticateHeader({
          additionalParams: { realm, error_description: description },
        });
        expect(header).toMatch(/^[\x20-\x7e]*$/);
        const sendable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '').slice(0, 256);
        expect(parseChallenge(header)).toEqual({
          realm: sendable(realm),
          error_description: sendable(description),
        });
      }),
    );
  });
});

describe('extractBearerToken', () => {
  verifies(['M9', 'S251'], 'takes one token68 after the scheme in any case, and nothing else', () => {
    for (const header of ['Bearer x', 'bearer x', 'BEARER x', 'Bearer   x', 'Bearer x '])
      expect(extractBearerToken(header), header).toBe('x');
    expect(extractBearerToken('Bearer aZ09-._~+/==')).toBe('aZ09-._~+/==');
    for (const header of [
      'Bearer a b',
      'Bearer',
      'Bearer ',
      'Bearer a=b',
      'Bearer "a"',
      'Bearer a,b',
      'Bearer ä',
      'Bearer a\tb',
      'Bearera',
      ' Bearer a',
      'Basic a',
      'a',
      '',
      undefined,
      null,
    ])
      expect(extractBearerToken(header), String(header)).toBeUndefined();
  });

  test('tells several headers and broken ones from none', () => {
    expect(readAuthorization('Bearer a', 2)).toEqual({ kind: 'several' });
    expect(readAuthorization('Bearer a, Bearer b', 1)).toEqual({ kind: 'several' });
    expect(readAuthorization('Basic a, Bearer b', 1)).toEqual({ kind: 'several' });
    expect(readAuthorization('Bearer a b', 1)).toEqual({ kind: 'malformed' });
    expect(readAuthorization('Digest realm="a", nonce="b c"', 1)).toEqual({ kind: 'none' });
    expect(readAuthorization(undefined, 0)).toEqual({ kind: 'none' });
  });

  verifies('M9', 'reads headers of a megabyte at once', () => {
    const started = performance.now();
    for (const part of ['a', ' ', ',', ', ', '=', 'Bearer '])
      readAuthorization(`Bearer ${part.repeat(1_000_000 / part.length)}!`, 1);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

verifies('S251', 'generateProtectedResourceMetadata fills in scopes and leaves out what is not known', () => {
  const given = { resource: 'https://a/mcp', authorizationServers: ['https://as'] };
  expect(generateProtectedResourceMetadata(given)).toEqual({
    resource: 'https://a/mcp',
    authorization_servers: ['https://as'],
    scopes_supported: ['mcp:read', 'mcp:write'],
    bearer_methods_supported: ['header'],
  });
  expect(
    generateProtectedResourceMetadata({
      ...given,
      scopesSupported: ['s'],
      resourceName: 'n',
      resourceDocumentation: 'https://doc',
    }),
  ).toEqual({
    resource: 'https://a/mcp',
    authorization_servers: ['https://as'],
    scopes_supported: ['s'],
    bearer_methods_supported: ['header'],
    resource_name: 'n',
    resource_documentation: 'https://doc',
  });
});
