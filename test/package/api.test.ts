/** The public surface, pinned: every exported name with its kind, per entry. A change shows in the snapshot files. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = path.resolve(fileURLToPath(import.meta.url), '../../..');
const require = createRequire(import.meta.url);
const entries = ['index', 'client/index', 'server/index'];

interface Export {
  readonly name: string;
  readonly kind: string;
  /** Whether it exists at run time. */
  readonly isValue: boolean;
}

function kindOf(symbol: ts.Symbol): string {
  if (symbol.flags & ts.SymbolFlags.Class) return 'class';
  if (symbol.flags & ts.SymbolFlags.Function) return 'function';
  if (symbol.flags & ts.SymbolFlags.Variable) return 'const';
  return symbol.flags & ts.SymbolFlags.Interface ? 'interface' : 'type';
}

/** One program for every entry in both formats, since reading the declarations of core takes long. */
const program = ts.createProgram(
  entries.flatMap(entry => [`${root}/dist/${entry}.d.mts`, `${root}/dist/${entry}.d.cts`]),
  { module: ts.ModuleKind.NodeNext, skipLibCheck: true },
);

/** What a declaration file exports, sorted by name. */
function declaredExports(file: string): readonly Export[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const entry = source && checker.getSymbolAtLocation(source);
  if (entry === undefined) throw new Error(`${file} is missing; run \`npm run build\` first`);
  return checker
    .getExportsOfModule(entry)
    .map(symbol => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return {
        name: symbol.name,
        kind: kindOf(target),
        isValue: (target.flags & ts.SymbolFlags.Value) !== 0,
      };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

describe.each(entries)('%s', entry => {
  const dist = `${root}/dist/${entry}`;
  const declared = declaredExports(`${dist}.d.mts`);
  const values = declared.filter(one => one.isValue).map(one => one.name);

  test('exports what the snapshot says', async () => {
    const lines = declared.map(({ name, kind }) => `${kind} ${name}\n`).join('');
    await expect(lines).toMatchFileSnapshot(`./api/${entry.replace('/', '-')}.txt`);
  });

  test('exports at run time what its declarations promise, as ESM and as CJS', async () => {
    const esm = (await import(pathToFileURL(`${dist}.mjs`).href)) as Record<string, unknown>;
    const cjs = require(`${dist}.cjs`) as Record<string, unknown>;
    expect(Object.keys(esm).toSorted()).toEqual(values);
    expect(
      Object.keys(cjs)
        .filter(name => name !== '__esModule')
        .toSorted(),
    ).toEqual(values);
    for (const name of values) expect(typeof cjs[name]).toBe(typeof esm[name]);
  });

  test('declares the same for ESM and for CJS', () => {
    expect(declaredExports(`${dist}.d.cts`)).toEqual(declared);
  });
});
