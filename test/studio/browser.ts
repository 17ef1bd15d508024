/** What the tests use of playwright-core, which is among the packages of test/foreign, without its types. */
import { createRequire } from 'node:module';

/** Something on a page, or nothing yet; every action waits for it. */
export interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  first(): Locator;
  waitFor(): Promise<void>;
  innerText(): Promise<string>;
}

interface Scope {
  getByRole(role: string, options?: { readonly name?: string; readonly exact?: boolean }): Locator;
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  locator(selector: string): Locator;
}

export interface FrameLocator extends Scope {
  frameLocator(selector: string): FrameLocator;
}

export interface Page extends FrameLocator {
  goto(url: string, options?: { readonly waitUntil?: string }): Promise<unknown>;
  screenshot(options: { readonly path: string }): Promise<unknown>;
  setDefaultTimeout(ms: number): void;
  route(
    matches: (url: URL) => boolean,
    handle: (route: { abort(): Promise<void> }) => Promise<void>,
  ): Promise<void>;
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): unknown;
  waitForTimeout(ms: number): Promise<void>;
}

export interface Browser {
  newPage(options: { readonly viewport: { readonly width: number; readonly height: number } }): Promise<Page>;
  close(): Promise<void>;
}

interface Playwright {
  readonly chromium: {
    launch(options: { readonly executablePath: string; readonly args: readonly string[] }): Promise<Browser>;
  };
}

/** Starts a headless Chromium of the machine with the playwright-core of a folder of packages. */
export function launchBrowser(packages: string, executablePath: string): Promise<Browser> {
  const { chromium } = createRequire(`${packages}/index.js`)('playwright-core') as Playwright;
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] });
}
