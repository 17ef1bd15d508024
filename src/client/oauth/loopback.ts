/** What a loopback address is, and which URLs a callback server may bind. Opens nothing. */
import { MCPConfigurationError } from '../../shared/errors.ts';

/** Ports tried after the preferred one. */
const MORE_PORTS = 10;
const MAX_PORT = 65_535;

/** Whether a host, as `URL.hostname` has it, can only be this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost') || name === '[::1]') return true;
  return /^127\.\d+\.\d+\.\d+$/.test(name);
}

/** Whether a redirect URL is one that a callback server here can bind: plain http on a loopback host. */
export function isLoopbackRedirect(redirectUrl: string | URL): boolean {
  if (!URL.canParse(String(redirectUrl))) return false;
  const url = new URL(redirectUrl);
  const bindable = url.hostname === 'localhost' || !url.hostname.endsWith('localhost');
  return url.protocol === 'http:' && isLoopbackHost(url.hostname) && bindable;
}

/**
 * Every URL that a callback server for this redirect URL may bind, the preferred one first: its port and the next ten.
 * Register all of them as `redirect_uris`.
 *
 * A redirect URL without loopback host is its own only candidate: nothing here binds it.
 *
 * @throws MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID` when it is no URL.
 * @see https://datatracker.ietf.org/doc/html/rfc8252#section-7.3
 */
export function getCallbackUrlCandidates(redirectUrl: string | URL): URL[] {
  if (!URL.canParse(String(redirectUrl)))
    throw new MCPConfigurationError('client', 'redirectUrl', 'must be a URL');
  const preferred = new URL(redirectUrl);
  // Port 0 lets the system choose.
  if (!isLoopbackRedirect(preferred) || preferred.port === '0') return [preferred];
  const first = Number(preferred.port || 80);
  const last = Math.min(first + MORE_PORTS, MAX_PORT);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const candidate = new URL(preferred);
    candidate.port = String(first + index);
    return candidate;
  });
}
