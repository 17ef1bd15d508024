import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Tests of the package as it is published. They read dist, so build first. */
const config: ViteUserConfig = defineConfig({
  test: {
    dir: 'test/package',
    include: ['**/*.test.ts'],
    environment: 'node',
    testTimeout: 300_000,
    hookTimeout: 180_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});

export default config;
