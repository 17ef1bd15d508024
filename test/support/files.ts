/** Files in which programs under test note what they did. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A path in a folder of its own; the file is not there yet. */
export function temporaryFile(): string {
  return path.join(mkdtempSync(path.join(tmpdir(), 'mcp-test-')), 'file');
}

/** The lines of a file, none when it is not there. */
export function linesOf(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}
