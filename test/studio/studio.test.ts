/** Mastra Studio in a browser: a server of ours and proxies of two foreign ones, one of them with an MCP App. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConsumer, type Consumer } from '../package/consumer.ts';
import { verifies } from '../requirements/requirements.ts';
import { findChromium } from '../support/chromium.ts';
import { ensureForeign } from '../support/foreign.ts';
import { nodeSince } from '../support/node-binary.ts';
import { until } from '../support/processes.ts';
import { referenceServer } from '../support/reference-server.ts';
import { launchBrowser, type Browser, type FrameLocator, type Page } from './browser.ts';
import { startMapServer, type MapServer } from './map-server.ts';
import { startMastraDev, type MastraDev } from './mastra-dev.ts';

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const project = at('project');
/** Where screenshots go; without it there are none. */
const screenshots = process.env['MCP_TEST_SCREENSHOTS'];

const chromium = findChromium();
const foreign = await ensureForeign();
const node = await nodeSince(22, 13);
if (chromium === undefined) console.warn('Skipped: this machine has no Chromium; CHROMIUM names one');
const isPossible = chromium !== undefined && foreign !== undefined && node !== undefined;

describe.skipIf(!isPossible)('Studio', () => {
  let consumer: Consumer | undefined;
  let map: MapServer | undefined;
  let dev: MastraDev | undefined;
  let browser: Browser | undefined;
  let page: Page;

  beforeAll(async () => {
    if (!isPossible) return;
    const packages = [foreign, at('../../node_modules')];
    consumer = await createConsumer({ files: project, packages });
    map = await startMapServer(path.join(project, 'page.html'));
    const env = {
      STUDIO_EVERYTHING: referenceServer('everything'),
      STUDIO_MAP: map.url,
      STUDIO_PAGE: path.join(project, 'page.html'),
    };
    dev = await startMastraDev({ folder: consumer.folder, node, env });
    browser = await launchBrowser(foreign, chromium);
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(120_000);
    // Studio asks for the newest versions of packages; it does without.
    await page.route(
      ({ hostname }) => hostname !== '127.0.0.1',
      route => route.abort(),
    );
  });

  afterAll(async () => {
    await browser?.close();
    await dev?.[Symbol.asyncDispose]();
    await map?.[Symbol.asyncDispose]();
    await consumer?.[Symbol.asyncDispose]();
  });

  const visit = async (where: string): Promise<void> => {
    await page.goto(`${dev?.origin}${where}`, { waitUntil: 'domcontentloaded' });
  };
  const shoot = async (name: string): Promise<void> => {
    if (screenshots === undefined) return;
    // What moves comes to rest.
    await page.waitForTimeout(1500);
    await page.screenshot({ path: path.join(screenshots, `studio-${name}.png`) });
  };
  const rest = async (route: string): Promise<unknown> =>
    (await fetch(`${dev?.origin}/api/mcp/${route}`)).json();
  const toolsOf = async (server: string): Promise<readonly string[]> => {
    const { tools } = (await rest(`${server}/tools`)) as { tools: readonly { name: string }[] };
    return tools.map(({ name }) => name);
  };
  /** Fills in the form of a tool with one text and sends it. */
  const submit = async (server: string, tool: string, text: string): Promise<void> => {
    await visit(`/mcps/${server}/tools/${tool}`);
    await page.locator('form textarea, form input[type=text]').first().fill(text);
    await page.getByRole('button', { name: 'Submit' }).click();
  };
  /** The page of an App: Studio writes it into a frame. */
  const openApp = async (server: string, tool: string): Promise<FrameLocator> => {
    await visit(`/mcps/${server}/tools/${tool}`);
    return page.frameLocator('iframe');
  };

  verifies(['S106', 'S107'], 'lists the server of the project and both foreign ones', async () => {
    await visit('/mcps');
    for (const name of ['Desk', 'everything', 'map'])
      await page.getByText(name, { exact: true }).first().waitFor();
    await shoot('servers');
  });

  verifies(['S106', 'S107'], 'lists every tool of each', async () => {
    expect(await toolsOf('desk')).toEqual(['greet', 'locate']);
    expect(await toolsOf('map')).toEqual(['map_locate', 'map_burn']);
    expect((await toolsOf('everything')).length).toBeGreaterThan(10);
    for (const server of ['desk', 'map', 'everything']) {
      const names = await toolsOf(server);
      await visit(`/mcps/${server}`);
      for (const name of names) await page.getByRole('link', { name, exact: true }).waitFor();
      if (server === 'map') await shoot('server');
    }
  });

  verifies('S106', 'runs a tool by its form, of our server and of a foreign one', async () => {
    await submit('desk', 'greet', 'Ada');
    await page.getByText('"Hello Ada"').waitFor();
    await submit('everything', 'everything_echo', 'Good morning');
    await page.getByText('"Echo: Good morning"').waitFor();
    await shoot('tool');
  });

  verifies(['S106', 'S108'], 'shows the page of an App, which asks its tool through Studio', async () => {
    for (const [server, tool] of [
      ['desk', 'locate'],
      ['map', 'map_locate'],
    ] as const) {
      const app = await openApp(server, tool);
      await app.getByText('Shown by Mastra Studio').waitFor();
      await app.getByRole('button', { name: 'Where is Ulm?' }).click();
      await app.getByText(`Ulm is on the ${server} {"place":"Ulm","on":"${server}"}`).waitFor();
    }
    expect(map?.calls).toEqual(['locate Ulm']);
    await shoot('app');
  });

  verifies('S106', 'shows why a tool failed, and has run it once, with and without an answer', async () => {
    const burns = (place: string): number => map?.calls.filter(call => call === `burn ${place}`).length ?? 0;
    await submit('map', 'map_burn', 'water');
    await page.getByText('"water does not burn"').waitFor();
    expect(burns('water')).toBe(1);
    await submit('map', 'map_burn', 'bridge');
    await until('the tool has run', () => burns('bridge') > 0, 60_000);
    // Studio repeats, three times, what is answered by 500 and above; until it gives up, the button waits.
    await page.locator('form button[type=submit]:enabled').waitFor();
    expect(burns('bridge')).toBe(1);
  });

  test('ends with everything that it started', async () => {
    expect(await dev?.stop()).toEqual([]);
  });
});
