import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Studio in a browser. It uses the package as it is published, so build first. */
const config: ViteUserConfig = defineConfig({
  test: {
    dir: 'test/studio',
    include: ['*.test.ts'],
    environment: 'node',
    testTimeout: 180_000,
    // The first run on a machine installs packages, and a Node.js that `mastra` can run on.
    hookTimeout: 660_000,
    pool: 'forks',
    fileParallelism: false,
  },
});

export default config;
