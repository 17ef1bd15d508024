import { defineConfig } from 'vitest/config';

/** Tests of the package as it is published. They read dist, so build first. */
export default defineConfig({
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
