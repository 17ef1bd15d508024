/** What this package calls itself towards peers. A test keeps it equal to package.json. */
export const PACKAGE_NAME = '@mastra/mcp';
export const PACKAGE_VERSION = '0.1.0';
