import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    exclude: ['foreign/**', 'suites/**', 'conformance/**', 'package/**', 'studio/**', '**/node_modules/**'],
    environment: 'node',
    env: { MASTRA_TELEMETRY_DISABLED: '1' },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
    typecheck: { enabled: true, include: ['types/**/*.test-d.ts'], tsconfig: 'test/types/tsconfig.json' },
  },
});

export default config;
