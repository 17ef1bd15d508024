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
  S033: {
    sentence:
      'allowedHosts?: string[] (HTTP): opt-in allow-list of hosts the client may contact on behalf of the server',
  },
  S034: {
    sentence:
      'Each entry is compared with URL.host (hostname, plus port when non-default): exact, hostname case-insensitive, no wildcards, scheme not checked',
  },
  S035: { sentence: 'Empty array denies every request' },
  S036: {
    sentence:
      'Default fetch path: disallowed hosts are blocked BEFORE the request is sent, on the first URL and on each redirect hop',
  },
  S037: { sentence: 'Redirects are followed manually, at most 5 hops, each hop validated' },
  S038: { sentence: 'Authorization is dropped on a hop that changes origin (scheme, host or port)' },
  S039: {
    sentence: 'With a custom fetch or custom eventSourceInit.fetch: initial URL is checked before the call',
  },
  S040: { sentence: 'A hand-made Response with empty response.url skips that post-hoc check (documented)' },
  S041: {
    sentence:
      'OAuth traffic through authProvider (metadata discovery, token exchange, refresh) is validated too',
  },
  S042: {
    sentence:
      'A blocked host fails the connection with an explicit error and is NEVER retried by reconnect logic',
  },
  S043: { sentence: 'allowedHosts is deliberately minimal' },
  S044: {
    sentence:
      'authProvider?: OAuthClientProvider (HTTP): OAuth provider for token refresh and flow management',
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
  S085: {
    sentence:
      'authenticate(serverName: string, options?: { timeoutMs?: number }): Promise<void>: runs the interactive authorization-code flow for a server whose MCPOAuthClientProvider has a loopback redirect URL',
  },
  S086: { sentence: 'Steps: start local callback server' },
  S087: { sentence: 'timeoutMs bounds the wait for the browser' },
  S088: { sentence: 'One-shot callback server on the loopback redirect URL' },
  S089: { sentence: 'Discovery and client registration at run time are done by the SDK' },
  S090: { sentence: 'Concurrent authenticate() calls for the same server join the pending flow' },
  S091: { sentence: 'If valid tokens are stored, authenticate() reconnects without opening a browser' },
  S092: {
    sentence:
      "getServerAuthState(serverName): 'needs-auth' | 'authorized' | undefined (sync): 'needs-auth' after a connection attempt rejected for authorization",
  },
  S093: {
    sentence: "A connection rejected for authorization records 'needs-auth' instead of failing at once",
  },
  S094: {
    sentence:
      'cancelAuthentication(serverName): Promise<boolean>: aborts a running flow, its set-up included',
  },
  S095: { sentence: "State after cancel: after a 401 stays 'needs-auth' and can be retried at once" },
  S096: {
    sentence:
      'authenticate on a server without MCPOAuthClientProvider, with a non-loopback redirect, or with an unknown name',
  },
  S097: {
    sentence:
      'class MCPOAuthClientProvider with options redirectUrl, clientMetadata { redirect_uris, client_name, grant_types, response_types }, onRedirectToAuthorization?: (url: URL) => void | Promise<void>, storage?: OAuthStorage',
  },
  S098: { sentence: 'One provider instance per server (it pins session state)' },
  S099: {
    sentence:
      'Exported createOAuthCallbackServer({ redirectUrl, state }): Promise<{ url, waitForCode(), close() }>: binds a one-shot loopback server, validates the OAuth state, returns the code',
  },
  S100: { sentence: 'server.url is the URL actually bound (use it as redirect_uri)' },
  S101: { sentence: 'Helper is for loopback redirects only (plain HTTP)' },
  S102: {
    sentence:
      'Exported getCallbackUrlCandidates(redirectUrl): URL[]: every URL the helper may bind, for registration as redirect_uris',
  },
  S103: {
    sentence:
      'Exported createSimpleTokenProvider(token, { redirectUrl, clientMetadata }): provider for tests or existing tokens',
  },
  S104: {
    sentence:
      'Exported interface OAuthStorage { set(key, value): Promise<void>|void; get(key): Promise<string|undefined>|string|undefined; delete(key): Promise<void>|void } for persistent tokens',
  },
  S105: {
    sentence:
      'toMCPServerProxies(): documented async (): Promise<Record<string, MCPClientServerProxy>>, one proxy per configured server',
  },
  S106: {
    sentence:
      'Each proxy wraps the client connection as an MCPServerBase, so an external server can be put in mcpServers and shows in Studio',
  },
  S107: {
    sentence:
      'Result is spreadable: new Mastra({ mcpServers: { ...(await mcpClient.toMCPServerProxies()) } })',
  },
  S108: {
    sentence:
      'Works for external servers that implement MCP Apps or other extensions, without wrapping in an MCPServer',
  },
  S109: { sentence: 'client.resources gives the resource operations' },
  S110: { sentence: 'resources.list(): Promise<Record<string, Resource[]>> by server name' },
  S111: { sentence: 'resources.templates(): Promise<Record<string, ResourceTemplate[]>> by server name' },
  S112: { sentence: 'resources.read(serverName, uri): Promise<ReadResourceResult>' },
  S113: { sentence: 'resources.subscribe(serverName, uri): Promise<object>' },
  S114: { sentence: 'resources.unsubscribe(serverName, uri): Promise<object>' },
  S115: {
    sentence: 'resources.onUpdated(serverName, handler: (params: { uri: string }) => void): Promise<void>',
  },
  S116: { sentence: 'resources.onListChanged(serverName, handler: () => void): Promise<void>' },
  S117: {
    sentence:
      'client.elicitation.onRequest(serverName, handler: ElicitationHandler) registers the handler for requests of that server',
  },
  S118: {
    sentence:
      'Handler receives { message: string; requestedSchema: JSON schema } and returns an ElicitResult',
  },
  S119: { sentence: "ElicitResult = { action: 'accept' | 'decline' | 'cancel'; content? }" },
  S120: { sentence: 'The handler must be set before calling tools that use elicitation' },
  S121: {
    sentence:
      "Full interactive readline sample must run: field loop, required check, 'cancel' typed => cancel, confirmation yes/no/cancel",
  },
  S122: { sentence: 'Schema-driven form sample: fields title, description, type, format, enum, required' },
  S123: {
    sentence:
      'Best practices: validate input, respect decline/cancel, explain why, never auto-approve sensitive requests',
  },
  S124: { sentence: 'client.prompts.list(): Promise<Record<string, Prompt[]>>' },
  S125: {
    sentence:
      'client.prompts.get({ serverName, name, args?: Record<string, any>, version?: string }): Promise<{ prompt: Prompt; messages: PromptMessage[] }>',
  },
  S126: { sentence: 'client.prompts.onListChanged(serverName, handler): Promise<void>' },
  S127: { sentence: 'client.tools.onListChanged(serverName, handler: () => void): Promise<void>' },
  S128: { sentence: 'client.progress.onUpdate(serverName, handler: (p: { progressToken: string' },
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
  S139: {
    sentence:
      'mapAuthInfoToUser?: ({ authInfo, extra, requestContext }) => unknown | null | undefined | Promise<...>: converts extra.authInfo into the user used by FGA checks',
  },
  S140: {
    sentence:
      "fga?: { resourceMapping?: Partial<Record<'tool'|'tools', { fgaResourceType: string; deriveId?: ({ user, resourceId, requestContext }) => string | undefined }>>; permissionMapping?: Record<string,string> }: overrides for this server's tools/list and tools/call",
  },
  S141: {
    sentence:
      "repository?: Repository, releaseDate?: string (ISO 8601, default instantiation time), isLatest?: boolean (default true), packageCanonical?: 'npm'|'docker'|'pypi",
  },
  S142: {
    sentence: 'resources?: MCPServerResources, prompts?: MCPServerPrompts, appResources?: AppResources',
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
  S157: {
    sentence:
      "startSSE({ url: URL; ssePath: string; messagePath: string; req; res }): Promise<void>: call from a web server's handler for both paths",
  },
  S158: { sentence: 'SSE client connects at ssePath and posts to messagePath' },
  S159: {
    sentence:
      'startHonoSSE({ url; ssePath; messagePath; req; res }): Promise<void> (as documented, inside a node http handler)',
  },
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
  S183: {
    sentence:
      'getStdioTransport(): StdioServerTransport | undefined, getSseTransport(): SSEServerTransport | undefined',
  },
  S184: { sentence: 'getSseHonoTransport(): SSETransport | undefined' },
  S185: { sentence: 'getStreamableHTTPTransport(): StreamableHTTPServerTransport | undefined' },
  S186: { sentence: 'Transport getters are for internal checks and tests' },
  S187: {
    sentence:
      'MCPServerResources = { listResources: () => Promise<Resource[]>; getResourceContent: ({ uri }) => Promise<MCPServerResourceContent | MCPServerResourceContent[]>; resourceTemplates?: () => Promise<ResourceTemplate[]> }',
  },
  S188: { sentence: 'MCPServerResourceContent = { text?: string } | { blob?: string }' },
  S189: { sentence: 'Handles resources/list, resources/templates/list, resources/read' },
  S190: {
    sentence: 'Types Resource, ResourceTemplate, MCPServerResourceContent, MCPServerResources exported',
  },
  S191: {
    sentence:
      'server.resources.notifyUpdated({ uri }): Promise<void>: sends notifications/resources/updated only to clients subscribed to that URI',
  },
  S192: {
    sentence:
      'server.resources.notifyListChanged(): Promise<void>: notifications/resources/list_changed to all clients',
  },
  S193: { sentence: 'Capabilities subscribe + listChanged' },
  S194: {
    sentence:
      'MCPServerPrompts = { listPrompts: () => Promise<Prompt[]>; getPromptMessages?: ({ name, version?, args? }) => Promise<{ prompt: Prompt; messages: PromptMessage[] }> }',
  },
  S195: { sentence: 'Prompts identified by unique name plus optional version' },
  S196: { sentence: "Sample: prompt 'analyze-code' v1/v2, default v1 when version is missing" },
  S197: { sentence: 'server.prompts.notifyListChanged(): notifications/prompts/list_changed to all clients' },
  S198: {
    sentence:
      'Best practices: clear names/descriptions, validate required args, include version on breaking change, notify, instructive errors',
  },
  S199: { sentence: 'Types Prompt, PromptMessage, MCPServerPrompts exported' },
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
  S205: { sentence: 'notifications/message' },
  S206: { sentence: 'Level is tracked per session' },
  S207: {
    sentence:
      "server.sendLoggingMessage({ level: LoggingLevel; data: unknown; logger?: string }): Promise<void> to all connected clients, honouring each client's level",
  },
  S208: {
    sentence:
      'Broadcast methods (resources/prompts/tool list changed, sendLoggingMessage) reach every connected client on every transport: stdio/SSE and each Streamable HTTP session',
  },
  S209: { sentence: 'notifyUpdated is per subscription' },
  S210: { sentence: 'Stateless serverless clients get no notifications' },
  S211: { sentence: 'notifications/progress is sent only if the request carried a progressToken' },
  S212: { sentence: 'Automatic for every tool: context.mcp.elicitation.sendRequest()' },
  S213: {
    sentence:
      'requestedSchema is a flat object of primitives: string (title, description), number (minimum, maximum), boolean (default), enum',
  },
  S214: { sentence: 'Three actions accept (with content), decline, cancel (no content)' },
  S215: {
    sentence: 'Session-aware over SSE and HTTP: the request goes to the client session that started the tool',
  },
  S216: { sentence: 'Server validates accepted content against the schema' },
  S217: { sentence: 'Client without elicitation support' },
  S218: { sentence: 'Never ask for passwords, SSN, card numbers' },
  S219: {
    sentence:
      'Exported createOAuthMiddleware({ oauth, mcpPath? }) returns async (req, res, url) => { proceed: boolean }',
  },
  S220: {
    sentence: 'Serves protected-resource metadata at /.well-known/oauth-protected-resource (RFC 9728)',
  },
  S221: { sentence: '401 with proper WWW-Authenticate when authentication is needed' },
  S222: { sentence: 'Validates bearer tokens with the given validator' },
  S223: { sentence: 'oauth.resource: string canonical URL' },
  S224: { sentence: "oauth.scopesSupported?: string[] default ['mcp:read','mcp:write']" },
  S225: { sentence: 'oauth.validateToken?: (token, resource) => Promise<TokenValidationResult>' },
  S226: { sentence: "mcpPath?: string default '/mcp': only requests to that path need authentication" },
  S227: { sentence: 'Exported createStaticTokenValidator(tokens: string[])' },
  S228: {
    sentence: 'Exported createIntrospectionValidator(endpoint, { clientId, clientSecret }) (RFC 7662)',
  },
  S229: { sentence: 'Custom validator returns { valid: false, error } or { valid: true, scopes, subject }' },
  S230: { sentence: 'After the middleware, startHTTP runs' },
  S231: { sentence: 'Whatever the HTTP layer puts on req.auth becomes context.mcp.extra.authInfo in tools' },
  S232: { sentence: 'req.auth shape: { token, clientId, scopes, expiresAt?, extra? }' },
  S233: {
    sentence:
      "FGA: when registered on a Mastra with an FGA provider, Mastra checks requestContext.get('user') before listing or calling",
  },
  S234: {
    sentence:
      'fga override applies only to tools/list and tools/call of this server, not to internal agent/workflow tool execution',
  },
  S235: {
    sentence:
      'Passing RequestContext on to an agent from a tool: context.mastra.getAgentById(id), agent.generate(prompt, { requestContext })',
  },
  S236: { sentence: 'context.mcp.extra.signal usable with fetch to abort on cancel' },
  S237: { sentence: "appResources: Record<'ui://…', AppResource>" },
  S238: {
    sentence:
      'AppResource = { name: string; description?: string; html?: string; htmlPath?: string; meta?: McpUiResourceMeta }',
  },
  S239: { sentence: 'htmlPath is resolved at server startup' },
  S240: { sentence: 'meta: CSP, permissions, rendering preferences from the official ext-apps SDK' },
  S241: { sentence: 'Link a tool by _meta.ui.resourceUri on the tool' },
  S242: { sentence: 'A tool may return { content, structuredContent } itself (calculator sample)' },
  S243: { sentence: 'App resources are merged with user resources' },
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
  S250: {
    sentence: 'server.listResources(), server.readResource(uri), server.getServer(), server.elicitation',
  },
  S251: {
    sentence:
      'OAuth helpers: generateWWWAuthenticateHeader, generateProtectedResourceMetadata, extractBearerToken, re-exported SDK auth functions, UnauthorizedError',
  },
  S252: {
    sentence: 'MastraApiMCPServer.create({ url, headers, apiPrefix, timeoutMs, fetch, id, name, version })',
    deferred: 'a server in front of the REST API of Mastra is a later phase',
  },
  S253: {
    sentence: 'protocolVersion options and cacheHints for revision 2026-07-28',
    deferred: 'version 1 of the SDK ends at revision 2025-11-25; D21 refuses newer claims at once',
  },
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
  },
  D18: { sentence: 'One trace' },
  D19: {
    sentence:
      'OAuth that survives real life: one refresh in flight per provider (64 parallel calls on an expired token: 64 succeed, one refresh), issuer checks and RFC 9207 iss, DCR, Client ID Metadata Documents and pre-registered clients, step-up on 403, storage keyed by s',
  },
  D20: { sentence: 'Node' },
  D21: { sentence: 'Newer clients fall back at once' },
  X01: {
    sentence:
      'The interactive-login sample wraps listTools() in try/catch and starts authenticate() in the catch',
  },
  X02: { sentence: 'listToolsets() described as flat map serverName.toolName' },
  X03: { sentence: 'startHonoSSE documented with node req/res, in a node http server, returning void' },
  X04: { sentence: 'Heading tools() documents executeTool' },
  X05: { sentence: 'requestContext is a plain object in the approval function but has .get() in fetch' },
  X06: { sentence: 'enableProgressTracking documented default true (twice)' },
  X07: { sentence: 'toMCPServerProxies documented async' },
  X08: {
    sentence:
      'Samples call elicitation.onRequest without await right after construction, and in one place the text only asks for it before the tool call',
  },
  X09: { sentence: 'Prompt results: client returns { prompt, messages }' },
  X10: { sentence: 'Two formats for the ask_ description ("original instructions" vs "agent description")' },
  X11: { sentence: 'Input is message, execution text says query' },
  X12: { sentence: "requestContext.get('mcp.extra') promised" },
  X13: { sentence: 'SSE header recipe blamed on an SDK bug' },
  X14: { sentence: 'sessionIdGenerator: "return undefined to disable".' },
  X15: {
    sentence: 'getStreamableHTTPTransport() and parameterless getSseHonoTransport() documented',
  },
  X16: {
    sentence:
      'Resource sample cannot work: list has file://data/123.txt, contents map key is file://data.txt/123, notify uses file://data.txt',
  },
  X17: { sentence: 'Prompt version: two list entries with the same name' },
  X18: {
    sentence:
      'toolActions.remove "by ID" but tools are keyed by record key (sample key searchTool, id search)',
  },
  X19: {
    sentence:
      'OAuth middleware sample suggests protected tools know the caller, but it never mentions req.auth',
  },
  X20: { sentence: 'Diagram: req.auth -> authInfo.extra' },
  X21: {
    sentence:
      'RequestContext hand-over sample: new RequestContext().set(...) returns undefined (verified), RequestContext not imported, prompt undefined, ??-free precedence mixes ||',
  },
  X22: {
    sentence:
      'MCP Apps sample: tool returns content + structuredContent but has no _meta.ui.resourceUri, so no app would open',
  },
  X23: { sentence: 'Static sample uses option log:; reference lists logger' },
  X24: { sentence: 'import { MCPOAuthClientProvider, OAuthStorage } imports an interface as a value' },
  X26: { sentence: 'Intro says two transports (stdio and SSE)' },
  X27: { sentence: 'startHTTP text says http://localhost:1234/http, code uses /mcp' },
  X28: { sentence: "fetch('/api/data') inside a tool: relative URLs fail in Node" },
  X29: { sentence: 'progressToken: string' },
  X30: { sentence: 'Elicitation overview says a tool calls server.elicitation.sendRequest()' },
  X31: { sentence: 'API d\'exécution section says elicitation comes through the "options" parameter' },
  X33: { sentence: "id shown as required, peer's types optional" },
  X34: {
    sentence:
      "Node: samples imply express req.url is complete inside app.all('/mcp') (true), but not inside app.use('/mcp') or a mounted Router (path stripped)",
  },
  X35: {
    sentence:
      'Serverless sample passes the request through fetch-to-node and returns toFetchResponse(nodeRes) after awaiting startHTTP: with serverlessStreaming this would bu',
  },
  C1: { sentence: 'SSRF by url: allowedHosts compares URL.host (WHATWG-normalised), exact, before sending' },
  C2: { sentence: 'SSRF by redirect: manual, 5 hops, every hop checked' },
  C3: {
    sentence:
      'credentials carried over a redirect: on origin change drop Authorization, Cookie, Proxy-Authorization, Mcp-Session-Id, Last-Event-ID and every header that came from requestInit.headers unless the user opts in',
  },
  C4: { sentence: 'downgrade https -> http on redirect: refuse' },
  C5: {
    sentence:
      'OAuth discovery as SSRF (resource_metadata, authorization_servers, token_endpoint, …): one guarded fetch for MCP and OAuth',
  },
  C6: {
    sentence:
      'dangerous authorization_endpoint: only https: (or http: loopback) reaches onRedirectToAuthorization',
  },
  C7: { sentence: 'error body with secrets, or a 5 MB page, in error text: cut to 500 chars, redact tokens' },
  C8: { sentence: 'endless pagination: cap pages (e.g. 1,000) and items' },
  C9: {
    sentence:
      'giant answer: limit response bytes per message (default e.g. 64 MiB, option) on stdio, SSE frame and JSON',
  },
  C10: {
    sentence:
      'header injection from server-chosen values (session id, protocol version): session id only 0x21 to 0x7E, <= 512 chars, else error',
  },
  C11: { sentence: 'open ports by fetch option: custom fetch: check first URL and final response.url' },
  T1: {
    sentence:
      'name collision (tool shadowing): server a + tool b_c and server a_b + tool c both give a_b_c: detect, keep the first by configuration order, report the other in errors, warn',
  },
  T2: {
    sentence:
      '__proto__, constructor, toString as tool, prompt, resource or server name: Object.create(null) or Map inside',
  },
  T3: { sentence: '__proto__ inside arguments or results: pass JSON through without merge' },
  T4: {
    sentence:
      'rug pull (definition changes after approval): expose a stable digest (SHA-256 of canonical JSON of name, description, schemas, annotations) per tool',
  },
  T5: {
    sentence:
      'prompt injection in description, instructions, results: never forward instructions by default, cut to a limit, mark origin',
  },
  T6: {
    sentence:
      'approval bypass: requireToolApproval: true must survive reconnect, refresh, rehydration from a cached definition',
  },
  T7: { sentence: 'annotations are hints from the server: never skip approval because of readOnlyHint' },
  T8: {
    sentence:
      'schema bombs (deep $ref, 10,000 alternatives, ReDoS pattern): compile lazily, time- and depth-limited',
  },
  T9: {
    sentence:
      'elicitation phishing: handler gets server name, default decline, URL mode: only http/https, never fetched or opened by us',
  },
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
  S9: {
    sentence:
      'URI template ReDoS: templates come from the author but the URI from the client: limit URI to 8 KB',
  },
  S10: { sentence: 'error leakage: tool errors give message only, no stack, paths or cause' },
  S11: {
    sentence:
      'notification spoof, flooding by one client: per-session cap on outstanding server requests and SSE backlog (see R12)',
  },
  S12: { sentence: 'event store cross-session: view per session: key prefix = session id' },
  M1: {
    sentence:
      'path tricks: protect by default-deny: everything the middleware lets through without a token must be an exact known public path',
  },
  M2: { sentence: 'fail-open: no validateToken -> start-up error unless allowUnvalidatedTokens:true' },
  M3: { sentence: 'header injection: quote " and \\, drop CR, LF, controls and non-ASCII, cap 256 chars' },
  M4: {
    sentence:
      'token audience: aud must contain resource (compare as URL, one trailing slash aside) or validator states it checked',
  },
  M5: { sentence: 'introspection semantics: active === true strictly' },
  M6: { sentence: 'token passthrough: authInfo.token stays available (API), but docs + lint sample warn' },
  M7: { sentence: 'static tokens: compare SHA-256 digests with timingSafeEqual, loop over all' },
  M8: {
    sentence: 'scopes: missing scope -> 403 insufficient_scope with scope= all needed and resource_metadata=',
  },
  M9: {
    sentence:
      'bearer parsing: scheme case-insensitive, exactly one token68, no query token, two Authorization headers -> 400',
  },
  O1: { sentence: 'mix-up: RFC 9207 table of 2.2' },
  O2: { sentence: 'metadata impostor: issuer in the document must equal the URL used' },
  O3: { sentence: 'callback CSRF: state 128+ bits, constant-time, wrong state -> 400 and keep waiting' },
  O4: {
    sentence:
      'success page before the exchange ended: answer the browser after the token exchange (or say "you can go back, finishing…")',
  },
  O5: { sentence: 'port squatting, localhost double meaning: bind exactly 127.0.0.1 or ::1 from the URL' },
  O6: {
    sentence:
      'credentials to a wrong server: storage keys namespaced by server URL + resource and stamped with issuer',
  },
  O7: {
    sentence:
      'insecure token file: if we ship a file storage: 0600, atomic rename, refuse group/other-readable, no symlink follow',
  },
  O8: {
    sentence:
      'log leakage: redaction in one place: Authorization, access_token, refresh_token, code, code_verifier, client_secret, registration_access_token, state, cookie, session id',
  },
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
  R12: {
    sentence:
      'SSE reader that stops reading: backlog per stream <= 1 MiB or 1,000 messages, then close the stream (resumable)',
  },
  R13: {
    sentence:
      '10,000 malformed JSON-RPC bodies: all 4xx (never 5xx), 0 crashes, 0 unhandled, heap ±5 MB, still serving',
  },
  R14: { sentence: '64 MiB body: 413, RSS +< 20 MB' },
  R15: { sentence: '2,000 abandoned sessions: all evicted after idle (test: 2 s)' },
  R16: {
    sentence:
      '1,000 sessions each with an open GET stream, 1,000 calls at once: 0 crossings, 0 errors, RSS < 300 MB',
  },
  R17: { sentence: 'clients vanish (1,000 streams cut): streams released < 5 s' },
  R18: {
    sentence:
      'SIGTERM on the HTTP server, 8 calls in flight: with our close({ drainMs }): new requests 503, running calls finish <= drainMs, then streams close, exit 0',
  },
  R19: { sentence: 'disconnect with stubborn child + grandchild: <= 5 s, whole tree gone' },
  R20: {
    sentence:
      "parent SIGTERM/SIGINT/SIGKILL: SIGTERM/SIGINT: children gone <= 5 s and the host's own handlers and exit code untouched",
  },
  R21: { sentence: '50 servers in one client: at most 1 listener per signal in the process, 0 warnings' },
  R22: { sentence: 'token expires under 64 parallel calls: 64 ok, 1 refresh' },
  R23: { sentence: 'validator or introspection down: 503 < 5 s, others served' },
  R24: { sentence: 'listTools with one dead server of five: others returned within their own time' },
  R25: {
    sentence:
      'soak 10 min, connect/call/disconnect 2,000 cycles: heap slope < 1 MB per 500 cycles, fds and processes constant',
  },
  R26: {
    sentence:
      'connect/disconnect/authenticate/cancel raced at random: no deadlock, no unhandled, state machine ends in closed',
  },
  R27: {
    sentence: "2 s event-loop stall, clock jump: no false session eviction (monotonic clock, unref'd timers)",
  },
  B01: { sentence: 'Server restarts, session id is unknown' },
  B03: { sentence: 'Old transport lives on after an implicit close' },
  B05: { sentence: 'Reconnect-and-retry repeats a call that already took effect' },
  B06: { sentence: 'Ordinary error text is taken for a lost session' },
  B08: { sentence: 'Failed reconnect leaves the client wedged' },
  B09: { sentence: 'Unusual answers to the optional GET' },
  B10: { sentence: 'Cold start slower than the connect limit' },
  B11: { sentence: 'Endpoint redirects to its slash form or another path' },
  B14: { sentence: 'Everyday schema kinds that converters break' },
  B16: { sentence: 'Provider layer refuses null unions or $ref' },
  B18: { sentence: 'Null sent for an optional argument' },
  B19: { sentence: 'Dialect marker the validator does not know' },
  B21: { sentence: 'Tools without parameters' },
  B24: { sentence: 'Malformed schema is forwarded and poisons the whole request' },
  B26: { sentence: 'Validator compiles code at run time' },
  B28: { sentence: 'Advertised dialect is wrong or unreadable for clients' },
  B30: { sentence: "Server or tool names outside the provider's character set" },
  B32: { sentence: 'Names too long after prefixing' },
  B33: { sentence: 'Progress does not keep a long call alive' },
  B35: { sentence: 'Client goes away, the tool keeps working' },
  B37: { sentence: 'Server never answers tools/list' },
  B39: { sentence: 'Answer arrives after the time-out, twice' },
  B40: { sentence: 'Notifications do not reach HTTP sessions' },
  B42: { sentence: 'Sending after the client left kills the server' },
  B44: { sentence: 'Elicitation offered though nobody can answer' },
  B46: { sentence: 'Approval function slows every call' },
  B47: { sentence: 'Approval function is not consulted or gets too little' },
  B48: { sentence: 'A declined call runs nevertheless' },
  B50: { sentence: 'Parallel calls at token expiry each refresh' },
  B52: { sentence: 'Loopback callback port races' },
  B54: { sentence: 'Client registration is gone at the server' },
  B56: { sentence: 'Interactive login can be started but not finished' },
  B57: { sentence: 'Registration refused with a non-JSON body' },
  B59: { sentence: 'Registration and token endpoint peculiarities' },
  B60: { sentence: 'Host policy and inherited environment' },
  B62: { sentence: 'Very large and odd texts' },
  B64: { sentence: 'DNS rebinding on local servers' },
  B66: { sentence: 'Browser clients: Origin and CORS' },
  B67: { sentence: 'Bad bodies, limits and parsed bodies' },
  B68: { sentence: 'One server object, many transports' },
  B69: { sentence: 'Reusing a stateless transport' },
  B70: { sentence: 'Idle streams are cut, frames are buffered' },
  B72: { sentence: 'Serverless option ignored by an adapter' },
  B73: { sentence: 'Server must say 404 for unknown sessions' },
  B74: { sentence: 'Server prints other things on stdout' },
  B75: { sentence: 'Grandchildren survive disconnect' },
  B77: { sentence: 'Listeners pile up' },
  B79: { sentence: 'stderr is never read' },
  B81: { sentence: 'Server tools with an output schema' },
  B82: { sentence: 'isError is taken for success' },
  B84: { sentence: 'Mismatch between schema, content and structuredContent' },
  B85: { sentence: 'Tools built from a cached catalogue' },
  B89: { sentence: 'Server tools do not see the caller' },
  B91: { sentence: 'Permission check without a user mapping blocks everything' },
  B93: { sentence: 'App resource metadata is lost' },
  B94: { sentence: 'Frames without an event line' },
  B96: { sentence: 'Cursor that never advances' },
  B97: { sentence: 'Only the first page is read' },
  B99: { sentence: 'Types: endless instantiation, two zods' },
  B100: { sentence: 'Replaced clients are not closed' },
  B102: { sentence: 'New major serves only the newest protocol revision' },
};
