/** The requirement rows built so far; each is cited by a test or says why it is deferred. */

export interface RequirementRow {
  /** What the row demands, in one sentence. */
  readonly sentence: string;
  /** Set where a row is known and not built; the reason why. */
  readonly deferred?: string;
}

export const rows: Readonly<Record<string, RequirementRow>> = {
  S001: { sentence: 'MCPClient is a class exported from the package root' },
  S002: { sentence: 'id?: string: optional unique id of the configuration instance' },
  S003: { sentence: 'servers: required record' },
  S004: {
    sentence:
      "timeout?: number default 60000 ms: global timeout for all servers, overridden per server by the server's own timeout",
  },
  S005: {
    sentence:
      'Leak guard: constructing a second instance with identical configuration and no id throws (synchronously, in the constructor)',
  },
  S006: { sentence: 'Giving each identical-config instance its own unique id makes construction succeed' },
  S007: {
    sentence:
      'await client.disconnect() frees the identity so an instance with the same configuration can be constructed again without an id',
  },
  S008: {
    sentence:
      'Documented third remedy: hoist the configuration to a higher scope so it is built once (error text should say so)',
  },
  S009: {
    sentence:
      'The client manages connections to several servers at once, and tool namespacing, and gives access to the tools of all configured servers',
  },
  S010: { sentence: 'Type MastraMCPServerDefinition' },
  S011: { sentence: 'command?: string (stdio): executable to run' },
  S012: { sentence: 'args?: string[] (stdio): arguments for the command' },
  S013: {
    sentence:
      'env?: Record<string,string> (stdio): variables set for the subprocess, merged over the base environment, forwarded verbatim',
  },
  S014: {
    sentence:
      "inheritDefaultEnv?: boolean default true (stdio): base environment is the SDK's default inherited set, never the whole process environment",
  },
  S015: {
    sentence:
      'POSIX default inherited variables are exactly HOME, LOGNAME, PATH, SHELL, TERM, USER (those that exist in the parent)',
  },
  S016: {
    sentence:
      'Windows default inherited variables are exactly APPDATA, HOMEDRIVE, HOMEPATH, LOCALAPPDATA, PATH, PROCESSOR_ARCHITECTURE, SYSTEMDRIVE, SYSTEMROOT, TEMP, USERNAM',
  },
  S017: {
    sentence:
      'inheritDefaultEnv: false: the subprocess receives only the variables listed in env (documented caveat: without PATH, non-absolute commands may fail to start)',
  },
  S018: {
    sentence: 'API keys and other secrets of the parent are not inherited unless passed explicitly in env',
  },
  S019: {
    sentence:
      'Server configuration from untrusted sources is untrusted input (docs must say that env is forwarded verbatim)',
  },
  S020: { sentence: 'url?: URL (HTTP): server URL, a URL object' },
  S021: { sentence: 'requestInit?: RequestInit (HTTP): configuration for fetch requests (headers etc.)' },
  S022: { sentence: 'eventSourceInit?: EventSourceInit (SSE fallback): custom fetch for the event stream' },
  S023: {
    sentence:
      'fetch?: MastraFetchLike (HTTP): used for ALL network requests of that server (Streamable POST/GET/DELETE, SSE stream, OAuth)',
  },
  S024: { sentence: 'With fetch given, requestInit, eventSourceInit and authProvider are optional' },
  S025: {
    sentence:
      'Third argument requestContext carries request-scoped data (cookies, bearer tokens) set by middleware or passed at agent/tool execution',
  },
  S026: { sentence: 'requestContext is null during initial connection (handshake)' },
  S027: {
    sentence:
      'agent.generate(..., { requestContext }) is forwarded automatically to the custom fetch of every tool call of that run',
  },
  S028: {
    sentence:
      'A custom fetch serves both the POST requests and the SSE connection (one function covers Streamable HTTP and SSE)',
  },
  S029: { sentence: 'Guidance: a custom fetch should not throw when authentication is unavailable' },
  S030: {
    sentence:
      'Returning 405 for the background GET is terminal: the standalone listener stops cleanly, POST traffic continues',
  },
  S031: { sentence: 'Non-2xx POST responses surface as errors to the caller of tools/list, tools/call etc' },
  S032: {
    sentence:
      'Documented pattern: custom fetch waits for a token before a POST, sends it without one when none comes (the server then rejects), and answers 405 for GET; use 4',
  },
  S045: {
    sentence: 'SSE headers, option 1: requestInit.headers + eventSourceInit.fetch that adds the header',
  },
  S046: { sentence: 'logger?: LogHandler: extra handler for log messages of this server' },
  S047: { sentence: 'timeout?: number: per-server timeout in ms' },
  S048: { sentence: 'capabilities?: ClientCapabilities: per-server client capabilities' },
  S049: {
    sentence:
      'enableServerLogs?: boolean default true: whether server log notifications are handled for this server',
  },
  S050: {
    sentence:
      "forwardInstructions?: boolean default false: append the server's advertised instructions to the system prompt of an Agent that uses its tools",
  },
  S051: {
    sentence: 'instructionsMaxLength?: number default 512: maximum number of instruction characters appended',
  },
  S052: {
    sentence:
      'requireToolApproval?: boolean | ((params: RequireToolApprovalContext) => boolean | Promise<boolean>)',
  },
  S053: { sentence: 'enableProgressTracking?: boolean, documented default true' },
  S054: {
    sentence:
      'requireToolApproval: true: every tool of the server needs approval, through the existing human-in-the-loop flow of Mastra agents',
  },
  S055: { sentence: 'Function form is evaluated per call' },
  S056: {
    sentence:
      'Function receives { toolName, args, requestContext, annotations }: un-prefixed tool name, model arguments, request context of the incoming request, annotations ',
  },
  S057: { sentence: 'The function may be async' },
  S058: { sentence: 'requestContext is usable as a plain object (requestContext?.userRole)' },
  S059: {
    sentence: 'Annotations usable: readOnlyHint, destructiveHint, idempotentHint, openWorldHint, title',
  },
  S060: {
    sentence: 'Annotations are untrusted hints: docs must warn and never present them as a security boundary',
  },
  S061: {
    sentence:
      'The same annotations are exposed on tools from listTools()/listToolsets() at tool.mcp.annotations',
  },
  S062: { sentence: 'An approval function that throws' },
  S063: { sentence: 'Instructions advertised at initialization are stored per server' },
  S064: {
    sentence:
      'With forwardInstructions: true, Agents using tools from listTools() or listToolsets() get them in the system prompt automatically',
  },
  S065: { sentence: 'Grouped by server name and truncated to instructionsMaxLength characters per server' },
  S066: {
    sentence:
      'With it omitted, instructions are cached and readable with getServerInstructions() but never added to a prompt',
  },
  S067: { sentence: 'Security note in docs: text goes verbatim into the system prompt (only truncated)' },
  S068: {
    sentence: 'getServerInstructions(): Record<string, string | undefined> (sync): key per configured server',
  },
  S069: {
    sentence:
      'listTools(): Promise<Record<string, Tool>>: all tools of all servers, names prefixed serverName_toolName, ready for an Agent definition',
  },
  S070: {
    sentence:
      'listToolsWithErrors(): Promise<{ tools, errors }>: same tools plus per-server errors of servers that failed to connect or to list',
  },
  S071: {
    sentence:
      'listToolsets(): documented as an object from namespaced names serverName.toolName to tools, to be passed as toolsets at generate/stream',
  },
  S072: { sentence: 'Behaviour of listTools() when one server fails: not stated directly' },
  S073: {
    sentence:
      'Static configuration: tools from one connection for the whole app (tools: await mcp.listTools())',
  },
  S074: {
    sentence:
      'Dynamic toolsets: a client per user, toolsets: await mcp.listToolsets() passed to agent.stream(prompt, { toolsets })',
  },
  S075: { sentence: 'Tool responses are untrusted input' },
  S076: { sentence: 'Tool calls honour server/global timeout' },
  S077: { sentence: 'When enableProgressTracking is true each tool call carries a progressToken' },
  S078: { sentence: 'If a runId is passed at execution it is used as the progressToken' },
  S079: { sentence: 'Result shape of tool.execute: not in the references' },
  S080: {
    sentence: 'Reconnect logic exists and retries transient failures (implied by the allowedHosts rule)',
  },
  S081: { sentence: 'disconnect(): Promise<void>: disconnects all servers and frees resources' },
  S082: { sentence: 'Automatic management of several server connections' },
  S083: { sentence: 'Clean server shutdown so no error messages appear during development' },
  S084: { sentence: 'Correct release of resources on disconnect (child processes, sockets, timers)' },
  S244: { sentence: 'reconnectServer(serverName)' },
  S245: { sentence: 'sessionIds getter (Record<string,string>) and getServerStderr(serverName)' },
  S246: {
    sentence:
      "Server definition options stderr, cwd, roots (with roots/list), jsonSchemaValidator, onToolError: 'throw'|'return' (default throw), connectTimeout (observed def",
  },
  S247: {
    sentence:
      'listToolsetsWithErrors, resources.listWithErrors, resources.templatesWithErrors, prompts.listWithErrors, all with { perServerTimeoutMs } and errorDetails',
  },
  S248: {
    sentence:
      'listToolDefinitions, listToolDefinitionsWithErrors, toolFromDefinition, toolsFromDefinitions (serialisable catalogue, lazy connect)',
  },
  S249: { sentence: 'getMcpCallToolContent(result), getMcpCallToolMeta(result) and their symbols' },
  S129: { sentence: 'MCPServer exposes Mastra tools, agents and workflows to any MCP client' },
  S130: { sentence: 'id: string (listed as required): unique' },
  S131: { sentence: 'name: string, version: string (semantic version)' },
  S132: { sentence: 'tools: ToolsInput: keys are the exposed tool names' },
  S133: {
    sentence:
      'agents?: Record<string, Agent>: each becomes a tool ask_<agentKey>; agent must have a non-empty string description',
  },
  S134: { sentence: 'Agent without/with empty description => error at construction' },
  S135: {
    sentence:
      'workflows?: Record<string, Workflow>: each becomes run_<workflowKey>; input schema = workflow inputSchema',
  },
  S136: { sentence: 'Workflow execution: workflow.createRun() then run.start({ inputData })' },
  S137: { sentence: 'Name conflicts: explicit tool wins over a derived one' },
  S138: { sentence: 'description?: string, instructions?: string (how to use the server' },
  S141: {
    sentence:
      "repository?: Repository, releaseDate?: string (ISO 8601, default instantiation time), isLatest?: boolean (default true), packageCanonical?: 'npm'|'docker'|'pypi",
  },
  S143: { sentence: 'Tool name ask_<agentKey> where the key is that of the agents object' },
  S144: {
    sentence: 'Description format: two different wordings in the reference (instructions vs description)',
  },
  S145: { sentence: 'Input: one object { message: string }.' },
  S146: { sentence: "Execution calls the agent's generate()" },
  S147: { sentence: 'Clients talk to agents in natural language as with any other tool' },
  S148: { sentence: 'Failed workflow' },
  S149: { sentence: 'Direct tool call: context?.mcp?.extra' },
  S150: { sentence: "Tool called by an agent: context?.requestContext?.get('mcp.extra')" },
  S151: {
    sentence:
      "Universal pattern context?.mcp?.extra ?? context?.requestContext?.get('mcp.extra'), then .authInfo",
  },
  S152: {
    sentence:
      'context.mcp.extra contains authInfo, sessionId, signal (AbortSignal), sendNotification, sendRequest',
  },
  S153: {
    sentence: 'context.mcp.elicitation.sendRequest({ message, requestedSchema }): Promise<ElicitResult>.',
  },
  S154: {
    sentence:
      'context.mcp.log(level: LoggingLevel, message: string, data?: Record<string, unknown>): Promise<void> sends to the calling client',
  },
  S155: { sentence: 'context.mcp.progress({ progress: number' },
  S156: { sentence: 'startStdio(): Promise<void>.' },
  S160: { sentence: 'startHTTP({ url: URL; httpPath: string' },
  S161: { sentence: 'Default options: { sessionIdGenerator: () => randomUUID() }.' },
  S162: { sentence: 'Requests to other paths than httpPath' },
  S163: {
    sentence:
      'options.serverless?: boolean default false: stateless, a fresh server instance per request, no session management',
  },
  S164: {
    sentence:
      'options.serverlessStreaming?: boolean default false, only with serverless: request-scoped SSE stream instead of one buffered JSON response, so progress reaches ',
  },
  S165: { sentence: 'Serverless default: one buffered JSON response' },
  S166: { sentence: 'Serverless stays stateless: no mcp-session-id required or kept' },
  S167: {
    sentence:
      'Not available in serverless (also with streaming): elicitation, resource subscribe/unsubscribe, resources.notifyUpdated, prompts.notifyListChanged, toolActions.',
  },
  S168: {
    sentence:
      'Works in Supabase Edge, Cloudflare Workers, Vercel Edge, Netlify Edge, AWS Lambda, Deno Deploy via a fetch-to-node adapter',
  },
  S169: {
    sentence: 'options.sessionIdGenerator: (() => string) | undefined: unique, cryptographically secure',
  },
  S170: { sentence: 'options.onsessioninitialized: (sessionId: string) => void' },
  S171: {
    sentence: 'options.enableJsonResponse: boolean default false: plain JSON instead of SSE streaming',
  },
  S172: { sentence: 'options.eventStore: EventStore: resumability' },
  S173: { sentence: 'Session behaviour for unknown/missing ids' },
  S174: { sentence: 'A body already parsed by middleware' },
  S175: {
    sentence:
      "Full express sample: auth middleware on '/mcp' then app.all('/mcp', ...) calling startHTTP with new URL(req.url, http://host)",
  },
  S176: { sentence: 'close(): Promise<void>: closes the server and frees all resources' },
  S177: { sentence: 'getServerInfo(): ServerInfo' },
  S178: { sentence: 'getServerDetail(): ServerDetail' },
  S179: { sentence: 'getToolListInfo(): ToolListInfo: tools configured, read-only list for debugging' },
  S180: { sentence: 'getToolInfo(toolName): ToolInfo' },
  S181: {
    sentence:
      'executeTool(toolName, input): Promise<any>; also documented as executeTool(toolId, args, executionContext?: { messages?: any[]; toolCallId?: string })',
  },
  S182: { sentence: 'tools(): heading says it executes a tool' },
  S185: { sentence: 'getStreamableHTTPTransport(): StreamableHTTPServerTransport | undefined' },
  S186: { sentence: 'Transport getters are for internal checks and tests' },
  S200: {
    sentence:
      'server.toolActions.add(tools: ToolsInput): Promise<void>: registers on the running server, keyed by record key, same key replaces',
  },
  S201: {
    sentence:
      'server.toolActions.remove(toolIds: string[]): Promise<void>: removes by id, notifies only if at least one was removed',
  },
  S202: { sentence: 'server.toolActions.notifyListChanged(): Promise<void>: only the notification' },
  S203: { sentence: 'Named toolActions because tools() is the registry method' },
  S204: { sentence: "When registered with Mastra, add/remove also update that instance's tool registry" },
  D01: { sentence: 'Connecting is bounded and tells why' },
  D02: { sentence: 'Status' },
  D03: { sentence: 'Time-outs know progress' },
  D04: { sentence: 'Repeat only what surely did not run (the retry rule in architecture.md)' },
  D05: { sentence: 'Names are model-safe' },
  D06: { sentence: 'Isolation' },
  D07: { sentence: 'What the model sees' },
  D08: { sentence: 'Faithful results from our server' },
  D09: { sentence: 'Suspension is answered by the caller' },
  D10: { sentence: 'Approval holds on the server too' },
  D11: { sentence: "Exactly one FGA check per call, with this server's mapping, before validation" },
  D12: {
    sentence:
      'Safe by default on HTTP. Loopback requests: Host must be loopback, Origin (when present) loopback or listed, else 403 whose text says which option to set (a rev',
  },
  D13: {
    sentence:
      'server.fetch(request, { authInfo?, requestContext?, options? }): Promise<Response>, the same handling as startHTTP for runtimes with web-standard requests (Work',
  },
  D14: { sentence: 'Cancellation end to end' },
  D15: { sentence: 'Processes' },
  D16: { sentence: 'Pagination everywhere, with a page limit and a repeated-cursor check' },
  D17: {
    sentence:
      'The rest of revision 2025-11-25: completions (client completions.complete({ serverName, ref, argument, context? })',
    deferred: 'completions, sampling and URL elicitation come with the rest of the capabilities',
  },
  D18: { sentence: 'One trace' },
  D20: { sentence: 'Node' },
  D21: { sentence: 'Newer clients fall back at once' },
  X01: {
    sentence:
      'The interactive-login sample wraps listTools() in try/catch and starts authenticate() in the catch',
  },
  X02: { sentence: 'listToolsets() described as flat map serverName.toolName' },
  X04: { sentence: 'Heading tools() documents executeTool' },
  X05: { sentence: 'requestContext is a plain object in the approval function but has .get() in fetch' },
  X06: { sentence: 'enableProgressTracking documented default true (twice)' },
  X08: {
    sentence:
      'Samples call elicitation.onRequest without await right after construction, and in one place the text only asks for it before the tool call',
  },
  X10: { sentence: 'Two formats for the ask_ description ("original instructions" vs "agent description")' },
  X11: { sentence: 'Input is message, execution text says query' },
  X12: { sentence: "requestContext.get('mcp.extra') promised" },
  X13: { sentence: 'SSE header recipe blamed on an SDK bug' },
  X14: { sentence: 'sessionIdGenerator: "return undefined to disable".' },
  X15: {
    sentence: 'getStreamableHTTPTransport() and parameterless getSseHonoTransport() documented',
    deferred: 'getStreamableHTTPTransport exists; getSseHonoTransport comes with the HTTP+SSE server',
  },
  X18: {
    sentence:
      'toolActions.remove "by ID" but tools are keyed by record key (sample key searchTool, id search)',
  },
  X22: {
    sentence:
      'MCP Apps sample: tool returns content + structuredContent but has no _meta.ui.resourceUri, so no app would open',
  },
  X23: { sentence: 'Static sample uses option log:; reference lists logger' },
  X29: { sentence: 'progressToken: string' },
  X33: { sentence: "id shown as required, peer's types optional" },
  X34: {
    sentence:
      "Node: samples imply express req.url is complete inside app.all('/mcp') (true), but not inside app.use('/mcp') or a mounted Router (path stripped)",
  },
  X35: {
    sentence:
      'Serverless sample passes the request through fetch-to-node and returns toFetchResponse(nodeRes) after awaiting startHTTP: with serverlessStreaming this would bu',
  },
  X30: { sentence: 'Elicitation overview says a tool calls server.elicitation.sendRequest()' },
  B01: { sentence: 'Server restarts, session id is unknown' },
  B05: { sentence: 'Reconnect-and-retry repeats a call that already took effect' },
  B06: { sentence: 'Ordinary error text is taken for a lost session' },
  B08: { sentence: 'Failed reconnect leaves the client wedged' },
  B09: { sentence: 'Unusual answers to the optional GET' },
  B10: { sentence: 'Cold start slower than the connect limit' },
  B11: { sentence: 'Endpoint redirects to its slash form or another path' },
  B14: { sentence: 'Everyday schema kinds that converters break' },
  B19: { sentence: 'Dialect marker the validator does not know' },
  B21: { sentence: 'Tools without parameters' },
  B24: { sentence: 'Malformed schema is forwarded and poisons the whole request' },
  B26: { sentence: 'Validator compiles code at run time' },
  B30: { sentence: "Server or tool names outside the provider's character set" },
  B32: { sentence: 'Names too long after prefixing' },
  B33: { sentence: 'Progress does not keep a long call alive' },
  B35: { sentence: 'Client goes away, the tool keeps working' },
  B37: { sentence: 'Server never answers tools/list' },
  B39: { sentence: 'Answer arrives after the time-out, twice' },
  B62: { sentence: 'Very large and odd texts' },
  B74: { sentence: 'Server prints other things on stdout' },
  B75: { sentence: 'Grandchildren survive disconnect' },
  B77: { sentence: 'Listeners pile up' },
  B79: { sentence: 'stderr is never read' },
  B81: { sentence: 'Server tools with an output schema' },
  B82: { sentence: 'isError is taken for success' },
  B84: { sentence: 'Mismatch between schema, content and structuredContent' },
  B96: { sentence: 'Cursor that never advances' },
  B100: { sentence: 'Replaced clients are not closed' },
  R1: {
    sentence:
      'stdio server killed, 64 calls in flight: each call rejects once, MCP_CLIENT_CONNECTION_LOST, mayHaveExecuted: true, < 1 s',
  },
  R2: { sentence: 'tool whose call kills the server: 1 execution, typed error' },
  R3: { sentence: 'error text with "session", "404", "not connected": plain tool error, no reconnect' },
  R4: {
    sentence:
      'server unknown session (404) after restart: re-initialise once, then repeat the call (the server refused it, so it surely did not run)',
  },
  R5: { sentence: 'connection refused: fails < 100 ms with cause' },
  R6: { sentence: 'accepts, never answers (connect): one limit covers Streamable + SSE + OAuth' },
  R7: {
    sentence:
      'answer stream dropped mid-call (reset or clean end, no event id): fails < 1 s, mayHaveExecuted: true',
  },
  R8: { sentence: 'socket reset before any answer byte: POST not repeated unless safe' },
  R9: { sentence: 'hang in a tool: time-out -> error, cancel sent, client still usable' },
  R10: { sentence: 'garbage, 12 MB line: see P5' },
  R11: { sentence: 'child never reads stdin: bounded: beyond 8 MiB queued, calls reject BACKPRESSURE' },
  R19: { sentence: 'disconnect with stubborn child + grandchild: <= 5 s, whole tree gone' },
  R20: {
    sentence:
      "parent SIGTERM/SIGINT/SIGKILL: SIGTERM/SIGINT: children gone <= 5 s and the host's own handlers and exit code untouched",
  },
  R21: { sentence: '50 servers in one client: at most 1 listener per signal in the process, 0 warnings' },
  P1: {
    sentence:
      'secrets inherited: only HOME, LOGNAME, PATH, SHELL, TERM, USER; values starting with () dropped',
  },
  P2: { sentence: 'command injection: shell:false always' },
  P3: {
    sentence:
      'orphans: own process group (detached on POSIX), on close: stdin end -> 2 s -> SIGTERM group -> 2 s -> SIGKILL group',
  },
  P4: { sentence: 'stderr never read (pipe) fills 64 KB and blocks the server: always drain' },
  P5: {
    sentence:
      'garbage and floods on stdout: skip bad lines (count, log first 200 chars redacted), 10 MiB line limit, then close with typed error',
  },
  T1: {
    sentence:
      'name collision (tool shadowing): server a + tool b_c and server a_b + tool c both give a_b_c: detect, keep the first by configuration order, report the other in errors, warn',
  },
  T2: {
    sentence:
      '__proto__, constructor, toString as tool, prompt, resource or server name: Object.create(null) or Map inside',
  },
  T3: { sentence: '__proto__ inside arguments or results: pass JSON through without merge' },
  T6: {
    sentence:
      'approval bypass: requireToolApproval: true must survive reconnect, refresh, rehydration from a cached definition',
  },
  T8: {
    sentence:
      'schema bombs (deep $ref, 10,000 alternatives, ReDoS pattern): compile lazily, time- and depth-limited',
  },
  S1: {
    sentence:
      "DNS rebinding: protection on by default when the request's Host and socket are loopback: Host must be localhost/127.0.0.0/8/[::1]; Origin, when present, must be loopback or li",
  },
  S2: { sentence: 'cross-site simple POST: Content-Type must parse to application/json' },
  S3: {
    sentence:
      'body size, slow body, split characters, aborts: limit 4 MiB (SDK constant) by bytes, 413 and connection close',
  },
  S4: {
    sentence:
      'JSON bombs: depth limit 64 to 100 before schema work (cheap scan), batch <= 100, 100 KB string keys fine',
  },
  S5: {
    sentence:
      'wrong client gets the answer: one SDK server + one transport per session or request, also for SSE and Hono',
  },
  S6: { sentence: 'session hijack: id = 122+ random bits' },
  S7: {
    sentence:
      'session flood: idle time (default 30 min), max sessions (default 10,000, LRU of idle ones, else 503 + Retry-After), max sessions per subject',
  },
  S8: { sentence: 'session ids in logs: log at most the first 8 characters' },
  S117: {
    sentence:
      'client.elicitation.onRequest(serverName, handler: ElicitationHandler) registers the handler for requests of that server',
  },
  S120: { sentence: 'The handler must be set before calling tools that use elicitation' },
  S128: { sentence: 'client.progress.onUpdate(serverName, handler: (p: { progressToken: string' },
  S211: { sentence: 'notifications/progress is sent only if the request carried a progressToken' },
  S236: { sentence: 'context.mcp.extra.signal usable with fetch to abort on cancel' },
};
