import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** The official scenarios and probes of our own, against a server in a process of its own. */
const config: ViteUserConfig = defineConfig({
  test: {
    dir: 'test/conformance',
    include: ['**/*.test.ts'],
    environment: 'node',
    testTimeout: 150_000,
    // The first run on a machine installs the runners.
    hookTimeout: 660_000,
    pool: 'forks',
    fileParallelism: false,
  },
});

export default config;
