/** The public surface: the client half and the server half. */
export * from './client/index.ts';
export * from './server/index.ts';
