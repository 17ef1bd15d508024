import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Suites that need packages of other people (test/foreign) or more time than a unit test may take. */
const config: ViteUserConfig = defineConfig({
  test: {
    dir: 'test/suites',
    include: ['**/*.test.ts'],
    environment: 'node',
    env: { MASTRA_TELEMETRY_DISABLED: '1' },
    testTimeout: 60_000,
    hookTimeout: 660_000,
    pool: 'forks',
    fileParallelism: false,
  },
});

export default config;
