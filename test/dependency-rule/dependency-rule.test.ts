/** Proves that the linter refuses what the dependency rule forbids, with files that break it on purpose. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

/** Lints `files` under the configuration of the repository, in a folder of their own. */
async function lint(files: Readonly<Record<string, string>>): Promise<readonly Diagnostic[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dependency-rule-'));
  try {
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'test/dependency-rule/oxlint-plugin.js']) {
      await cp(path.join(root, name), path.join(folder, name));
    }
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
    for (const [name, code] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), code);
    }
    const report = await new Promise<string>(resolve => {
      const oxlint = path.join(root, 'node_modules/oxlint/bin/oxlint');
      execFile(
        process.execPath,
        [oxlint, '--type-aware', '--format=json', 'src'],
        { cwd: folder },
        (_, out) => resolve(out),
      );
    });
    return (JSON.parse(report) as { diagnostics: Diagnostic[] }).diagnostics;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const use = (specifier: string, name = 'x'): string =>
  `import { ${name} } from '${specifier}';\nexport const used: unknown = ${name};\n`;
const useType = (specifier: string, name = 'X'): string =>
  `import type { ${name} } from '${specifier}';\nexport type Used = ${name};\n`;
const SDK = '@modelcontextprotocol/sdk';

/** What is forbidden: [sentence, file, code, rule]. */
const violations: readonly (readonly [string, string, string, string])[] = [
  ['shared/ imports client/', 'src/shared/a.ts', use('../client/options.ts'), 'house(imports)'],
  ['shared/ imports a type of server/', 'src/shared/b.ts', useType('../server/options.ts'), 'house(imports)'],
  ['client/ imports server/', 'src/client/tools/a.ts', use('../../server/options.ts'), 'house(imports)'],
  [
    'server/ loads client/ dynamically',
    'src/server/calls/a.ts',
    "export const a: unknown = import('../../client/options.ts');\n",
    'house(imports)',
  ],
  ['a room imports its facade', 'src/client/discovery.ts', useType('./mcp-client.ts'), 'house(imports)'],
  ['a room imports an index.ts', 'src/server/calls/b.ts', use('../index.ts'), 'house(imports)'],
  ['a room imports a folder', 'src/server/calls/c.ts', use('..'), 'house(imports)'],
  ['a facade imports an index.ts', 'src/client/mcp-client.ts', use('./index.ts'), 'house(imports)'],
  ['the root imports a room', 'src/index.ts', use('./shared/errors.ts'), 'house(imports)'],
  [
    'a capability imports the binding',
    'src/server/capabilities/a.ts',
    use('../sessions/session-binding.ts'),
    'house(imports)',
  ],
  [
    'a capability imports the sessions',
    'src/server/capabilities/b.ts',
    useType('../sessions/sessions.ts'),
    'house(imports)',
  ],
  [
    'a capability imports a transport',
    'src/server/capabilities/c.ts',
    use('../transports/stdio.ts'),
    'house(imports)',
  ],
  [
    'the binding imports a capability',
    'src/server/sessions/session-binding.ts',
    use('../capabilities/tools.ts'),
    'house(imports)',
  ],
  [
    'a transport imports a capability',
    'src/server/transports/a.ts',
    use('../capabilities/tools.ts'),
    'house(imports)',
  ],
  [
    'a remote tool imports a transport',
    'src/client/tools/b.ts',
    use('../connection/transports/http.ts'),
    'house(imports)',
  ],
  [
    "another client room imports the SDK's Client",
    'src/client/connection/connection.ts',
    use(`${SDK}/client/index.js`, 'Client'),
    'house(imports)',
  ],
  [
    "another server room names the type of the SDK's Server",
    'src/server/sessions/sessions.ts',
    useType(`${SDK}/server/index.js`, 'Server'),
    'house(imports)',
  ],
  [
    'a room that is no transport imports one of the SDK',
    'src/client/connection/a.ts',
    use(`${SDK}/client/stdio.js`),
    'house(imports)',
  ],
  [
    "a room that is no transport takes the SDK's Transport",
    'src/server/calls/d.ts',
    useType(`${SDK}/shared/transport.js`, 'Transport'),
    'house(imports)',
  ],
  [
    'a server room outside http/ uses node:http',
    'src/server/sessions/a.ts',
    use('node:http', 'createServer'),
    'house(imports)',
  ],
  [
    'a server room outside http/ makes a Response',
    'src/server/sessions/b.ts',
    'export const a: unknown = new Response();\n',
    'eslint(no-restricted-globals)',
  ],
  [
    'another room loads @mastra/core/auth/ee',
    'src/server/calls/e.ts',
    "export const a: unknown = import('@mastra/core/auth/ee');\n",
    'house(imports)',
  ],
  [
    'authorization.ts loads @mastra/core/auth/ee statically',
    'src/server/calls/authorization.ts',
    use('@mastra/core/auth/ee'),
    'house(imports)',
  ],
  [
    'jwt-validator.ts loads jose statically',
    'src/server/oauth/jwt-validator.ts',
    use('jose'),
    'house(imports)',
  ],
  [
    'protection knows who is connected',
    'src/server/oauth/a.ts',
    useType('../sessions/sessions.ts'),
    'house(imports)',
  ],
  [
    'a transport checks tokens itself',
    'src/server/transports/b.ts',
    use('../oauth/middleware.ts'),
    'house(imports)',
  ],
  ['a room re-exports', 'src/shared/c.ts', "export { z } from 'zod';\n", 'house(re-exports)'],
  ['a room re-exports everything', 'src/shared/d.ts', "export * from 'zod';\n", 'house(re-exports)'],
  [
    'a room re-exports what it imported',
    'src/shared/e.ts',
    "import { z } from 'zod';\nexport { z };\n",
    'house(re-exports)',
  ],
  ['two rooms import types of each other', 'src/shared/f.ts', useType('./g.ts', 'Used'), 'import(no-cycle)'],
  ['any is written', 'src/shared/h.ts', 'export const a: any = 1;\n', 'typescript(no-explicit-any)'],
  [
    'a promise is left alone',
    'src/shared/i.ts',
    'export function a(b: () => Promise<void>): void {\n  b();\n}\n',
    'typescript(no-floating-promises)',
  ],
  [
    'a variable is unused',
    'src/shared/j.ts',
    'const a = 1;\nexport const b = 2;\n',
    'eslint(no-unused-vars)',
  ],
  [
    'a type is imported in place',
    'src/shared/k.ts',
    "export type A = import('zod').ZodType;\n",
    'typescript(consistent-type-imports)',
  ],
  [
    'a room writes to the console',
    'src/shared/l.ts',
    'console.log(1);\nexport const b = 2;\n',
    'eslint(no-console)',
  ],
];

/** What the same rule allows, where it is allowed. */
const allowed: Readonly<Record<string, string>> = {
  'src/index.ts': "export { x } from './client/index.ts';\nexport { y } from './server/index.ts';\n",
  'src/client/index.ts': "export { x } from './mcp-client.ts';\nexport { z } from '../shared/errors.ts';\n",
  'src/server/index.ts': "export { y } from './mcp-server.ts';\n",
  'src/client/mcp-client.ts': use('./connection/connection.ts', 'used').replace('used:', 'x:'),
  'src/client/options.ts': useType(`${SDK}/client/sse.js`, 'SSEClientTransportOptions'),
  'src/client/connection/connection.ts': use('./peer.ts', 'used'),
  'src/client/connection/peer.ts':
    use(`${SDK}/client/index.js`, 'Client') + useType(`${SDK}/shared/transport.js`, 'Transport'),
  'src/client/connection/transports/http.ts': use(`${SDK}/client/streamableHttp.js`),
  'src/client/oauth/loopback.ts': 'export const a: unknown = new Response();\n',
  'src/server/mcp-server.ts': use('./capabilities/tools.ts', 'used').replace('used:', 'y:'),
  'src/server/capabilities/tools.ts': use('../calls/call-tool.ts', 'used'),
  'src/server/capabilities/logging.ts': 'export const x = 1;\n',
  'src/server/calls/call-tool.ts':
    useType('node:http', 'IncomingMessage') + use('../sessions/notifications.ts'),
  'src/server/calls/authorization.ts': "export const a: unknown = import('@mastra/core/auth/ee');\n",
  'src/server/http/listen.ts': use('node:http', 'createServer'),
  'src/server/oauth/jwt-validator.ts':
    useType('jose', 'JWTPayload') + "export const load = (): unknown => import('jose');\n",
  'src/server/sessions/notifications.ts': 'export const x = 1;\n',
  'src/server/sessions/session-binding.ts':
    use(`${SDK}/server/index.js`, 'Server') + useType('../capabilities/logging.ts', 'X'),
  'src/server/transports/stdio.ts': useType(`${SDK}/shared/transport.js`, 'Transport'),
  'src/shared/errors.ts': 'export const z = 1;\n',
};

describe('the linter', () => {
  let found: readonly Diagnostic[] = [];

  beforeAll(async () => {
    const files = Object.fromEntries(violations.map(([, file, code]) => [file, code]));
    found = await lint({ ...files, 'src/shared/g.ts': useType('./f.ts', 'Used') });
  }, 60_000);

  test.each(violations)('fails when %s', (_, file, __, code) => {
    expect(found.filter(one => one.filename === file).map(one => one.code)).toContain(code);
  });

  test('accepts each of these imports where the rule allows it', async () => {
    expect(await lint(allowed)).toEqual([]);
  }, 60_000);
});
