import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    exclude: ['foreign/**', 'suites/**', 'package/**', '**/node_modules/**'],
    environment: 'node',
    env: { MASTRA_TELEMETRY_DISABLED: '1' },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    dangerouslyIgnoreUnhandledErrors: false,
    pool: 'forks',
    maxWorkers: 2,
  },
});
