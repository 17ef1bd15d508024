/** How large the large tests are: small by default, full where `MCP_TEST_SCALE` says so (`npm run test:scale`). */
const isFull = process.env['MCP_TEST_SCALE'] === 'full';

/** The figure of the requirement at full scale, else a smaller one that two slow cores do in seconds. */
export function scaled(full: number, small: number): number {
  return isFull ? full : small;
}

/** Milliseconds a large test may take. */
export const SCALE_LIMIT_MS: number = scaled(600_000, 60_000);
