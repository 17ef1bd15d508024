/**
 * What exists once per process, however many copies of this module are loaded: client instances by identity, the child
 * processes that must not outlive us, and the listeners that see to it.
 *
 * Owns `globalThis[Symbol.for('@mastra/mcp')]`. Never exits the process and leaves the handlers of the host alone.
 */

/** A process tree of ours. */
export interface OwnedChild {
  /** Ends the tree; settles when nothing of it is left. Never rejects. */
  close(stdinGraceMs?: number): Promise<void>;
  /** Kills the tree at once, without waiting. */
  kill(): void;
}

interface ProcessState {
  readonly instances: Map<string, object>;
  readonly children: Set<OwnedChild>;
  /** Set while the listeners are installed. */
  removeListeners: (() => void) | undefined;
}

const KEY: unique symbol = Symbol.for('@mastra/mcp');
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How long a child may take to end by itself after a signal to us; shorter than on close, somebody is waiting. */
const SIGNAL_STDIN_GRACE_MS = 500;

function processState(): ProcessState {
  const holder = globalThis as { [KEY]?: ProcessState };
  return (holder[KEY] ??= { instances: new Map(), children: new Set(), removeListeners: undefined });
}

/** Makes an instance known under an identity, in place of the one that was. */
export function claimInstance(key: string, instance: object): void {
  processState().instances.set(key, instance);
}

/** The instance known under an identity; it may come from another loaded copy of this module. */
export function findInstance(key: string): object | undefined {
  return processState().instances.get(key);
}

/** Forgets an identity; with an instance given, only while it is that one's. */
export function releaseInstance(key: string, instance?: object): void {
  const { instances } = processState();
  if (instance === undefined || instances.get(key) === instance) instances.delete(key);
}

/**
 * Has a child ended when this process ends or gets SIGINT, SIGTERM or SIGHUP. Returns a function that gives it up.
 *
 * The listeners, one per signal and one for `exit`, exist only while there are children.
 */
export function registerChild(child: OwnedChild): () => void {
  const state = processState();
  state.children.add(child);
  state.removeListeners ??= installListeners(state);
  return () => {
    state.children.delete(child);
    if (state.children.size === 0) removeListeners(state);
  };
}

function removeListeners(state: ProcessState): void {
  state.removeListeners?.();
  state.removeListeners = undefined;
}

function installListeners(state: ProcessState): () => void {
  let ending = false;
  let raised = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    const children = [...state.children];
    const closed = Promise.all(children.map(child => child.close(SIGNAL_STDIN_GRACE_MS)));
    // A listener besides ours is the host's: what the signal means is its business.
    if (process.listenerCount(signal) > 1) return;
    const raise = (): void => {
      if (raised) return;
      raised = true;
      killAll(state);
      removeListeners(state);
      process.kill(process.pid, signal);
    };
    // The second signal is from somebody who does not want to wait.
    if (ending) return raise();
    ending = true;
    void closed.then(raise);
  };
  const onExit = (): void => killAll(state);
  // First in the list: a `once` listener of the host is gone from the count as soon as it ran.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  process.on('exit', onExit);
  return () => {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
    process.removeListener('exit', onExit);
  };
}

function killAll(state: ProcessState): void {
  for (const child of state.children) child.kill();
}
