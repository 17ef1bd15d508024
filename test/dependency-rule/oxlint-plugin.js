/**
 * The dependency rule of docs/architecture.md as a lint rule: who may import what, one row per sentence.
 *
 * Rows add up: an import must satisfy every row that names its file. Cycles are `import/no-cycle`. `never` names files
 * below src/ or modules; `files` (default: all of src/) and `except` name importing files; `but` takes targets back
 * out; `names` narrows a row to these imported names; in `typesIn` type-only imports are allowed, in `dynamicIn`
 * `import()` is.
 */
import path from 'node:path';

const SDK = '@modelcontextprotocol/sdk';
const SDK_TRANSPORTS = [
  'stdio',
  'sse',
  'streamableHttp',
  'webStandardStreamableHttp',
  'websocket',
  'express',
];
const TRANSPORTS = ['client/connection/transports/**', 'server/transports/**'];
const PEER = 'client/connection/peer.ts';
const BINDING = 'server/sessions/session-binding.ts';
const INDEXES = ['index.ts', 'client/index.ts', 'server/index.ts'];

const rows = [
  {
    never: ['client/**'],
    except: ['client/**', 'index.ts'],
    why: 'shared/ imports neither side, and the server never the client.',
  },
  {
    never: ['server/**'],
    except: ['server/**', 'index.ts'],
    why: 'shared/ imports neither side, and the client never the server.',
  },
  { never: INDEXES, except: ['index.ts'], why: 'A room never imports an index.ts.' },
  {
    never: ['client/mcp-client.ts', 'server/mcp-server.ts'],
    except: INDEXES.slice(1),
    why: 'A room never imports its facade.',
  },
  {
    files: ['index.ts'],
    never: ['**.ts'],
    but: INDEXES.slice(1),
    why: 'The root passes on the two sides and knows no room.',
  },
  {
    files: ['server/calls/**', 'server/capabilities/**'],
    never: [BINDING, 'server/sessions/sessions.ts', 'server/transports/**', 'server/http/**'],
    why: 'A handler knows no binding, no session, no transport; the facade hands it a `publish`.',
  },
  {
    files: ['server/sessions/**', 'server/transports/**', 'server/http/**'],
    never: ['server/capabilities/**'],
    but: ['server/capabilities/logging.ts'],
    why: 'Bindings and transports know handlers only as the merged table the facade hands over.',
  },
  {
    files: ['client/tools/**', 'client/capabilities/**'],
    never: ['client/connection/transports/**'],
    why: 'Tools and capabilities reach a server through its Connection.',
  },
  {
    never: [`${SDK}/client`, `${SDK}/client/index.js`],
    except: [PEER],
    why: `Only ${PEER} imports the SDK's Client.`,
  },
  {
    never: [`${SDK}/server`, `${SDK}/server/index.js`, `${SDK}/server/mcp.js`],
    except: [BINDING],
    why: `Only ${BINDING} imports the SDK's Server.`,
  },
  {
    never: [...SDK_TRANSPORTS.map(name => `${SDK}/*/${name}.js`), `${SDK}/inMemory.js`],
    except: TRANSPORTS,
    typesIn: ['client/options.ts'],
    why: 'Only the transports rooms import SDK transports.',
  },
  {
    never: [`${SDK}/shared/transport.js`],
    names: ['Transport'],
    except: [...TRANSPORTS, PEER, BINDING],
    why: "Only a transport implements the SDK's Transport, and only a binding takes one.",
  },
  {
    files: ['server/**'],
    never: ['node:http', 'node:https', 'node:http2'],
    except: ['server/http/**'],
    typesIn: ['server/**'],
    why: 'On the server only http/ touches node:http.',
  },
  {
    files: ['server/**'],
    never: ['jose'],
    dynamicIn: ['server/oauth/jwt-validator.ts'],
    typesIn: ['server/oauth/jwt-validator.ts'],
    why: 'Loaded only where JWTs are checked: only server/oauth/jwt-validator.ts loads it, and only by import().',
  },
  {
    files: ['server/oauth/**'],
    never: ['server/calls/**', 'server/sessions/**', 'server/transports/**', 'server/options.ts'],
    why: 'Protection stands in front of a server and knows nothing of what is behind it.',
  },
  {
    files: ['server/**'],
    never: ['server/oauth/**'],
    except: ['server/oauth/**', 'server/mcp-server.ts', 'server/index.ts'],
    typesIn: ['server/options.ts'],
    why: 'Only the facade puts protection in front of a server.',
  },
  {
    never: ['@mastra/core/auth/ee'],
    dynamicIn: ['server/calls/authorization.ts'],
    why: 'Under another licence: only server/calls/authorization.ts loads it, and only by import().',
  },
];

function toRegExp(glob) {
  const source = glob.replaceAll('.', '\\.').replace(/\*+/g, stars => (stars === '*' ? '[^/]*' : '.*'));
  return new RegExp(`^${source}$`);
}

const toMatcher = globs => {
  const patterns = (globs ?? []).map(toRegExp);
  return value => patterns.some(pattern => pattern.test(value));
};

const checks = rows.map(row => ({
  why: row.why,
  names: row.names,
  binds: toMatcher(row.files ?? ['**']),
  excepts: toMatcher(row.except),
  forbids: toMatcher(row.never),
  spares: toMatcher(row.but),
  sparesTypes: toMatcher(row.typesIn),
  sparesDynamic: toMatcher(row.dynamicIn),
}));

/** Path below src/ of what a file imports; a module that is not ours keeps its name. */
function toTarget(file, specifier) {
  if (!specifier.startsWith('.')) return specifier;
  const target = path.posix.join(path.posix.dirname(file), specifier);
  return path.posix.extname(target) === '' ? path.posix.join(target, 'index.ts') : target;
}

function isTypeOnly(node) {
  if (node.importKind === 'type' || node.exportKind === 'type') return true;
  const specifiers = node.specifiers ?? [];
  return specifiers.length > 0 && specifiers.every(specifier => specifier.importKind === 'type');
}

function namesAny(node, names) {
  const imported = (node.specifiers ?? []).map(
    specifier => specifier.imported?.name ?? specifier.local?.name,
  );
  return imported.some(name => names.includes(name));
}

const imports = {
  create(context) {
    const file = path.relative(path.join(context.cwd, 'src'), context.filename).split(path.sep).join('/');
    const applying = checks.filter(check => check.binds(file) && !check.excepts(file));
    const check = node => {
      if (typeof node.source?.value !== 'string') return;
      const target = toTarget(file, node.source.value);
      for (const row of applying) {
        if (!row.forbids(target) || row.spares(target)) continue;
        if (row.names !== undefined && !namesAny(node, row.names)) continue;
        if (isTypeOnly(node) && row.sparesTypes(file)) continue;
        if (node.type === 'ImportExpression' && row.sparesDynamic(file)) continue;
        context.report({ node: node.source, message: row.why });
      }
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};

/** Only an `index.ts` passes on what another file exports. */
const reExports = {
  create(context) {
    const imported = new Set();
    const report = node => context.report({ node, message: 'Only the three index.ts re-export.' });
    return {
      ImportDeclaration(node) {
        for (const specifier of node.specifiers) imported.add(specifier.local.name);
      },
      ExportAllDeclaration: report,
      ExportNamedDeclaration(node) {
        if (node.source !== null) report(node);
      },
      'Program:exit'(program) {
        for (const node of program.body) {
          if (node.type !== 'ExportNamedDeclaration' || node.source !== null) continue;
          for (const specifier of node.specifiers) if (imported.has(specifier.local.name)) report(specifier);
        }
      },
    };
  },
};

export default { meta: { name: 'house' }, rules: { imports, 're-exports': reExports } };
