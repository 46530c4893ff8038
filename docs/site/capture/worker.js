// In the worker: reads the files where they are, and runs one command after another.
'use strict';

let wasm;
let files;

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

// Reports how far the largest file, which is the capture, has been read.
function report(WORKERFS) {
  const largest = Math.max(...files.map((file) => file.size));
  const read = WORKERFS.stream_ops.read;
  let reported = performance.now();
  WORKERFS.stream_ops.read = (stream, buffer, offset, length, position) => {
    if (stream.node.size === largest && performance.now() - reported > 100) {
      reported = performance.now();
      postMessage({ progress: position / largest });
    }
    return read(stream, buffer, offset, length, position);
  };
}

onmessage = async ({ data }) => {
  if (data.engine) {
    files = data.files;
    wasm = inflated(data.engine).then((bytes) => WebAssembly.compile(bytes));
    return;
  }
  try {
    const done = await runRocecap(rocecap, await wasm, data.args, ({ FS, WORKERFS }) => {
      report(WORKERFS);
      FS.mkdirTree(data.mount);
      FS.mount(WORKERFS, { files }, data.mount);
      FS.chdir(data.start);
    });
    const file = data.file && done.FS.analyzePath(data.file).exists ? done.FS.readFile(data.file) : null;
    const folder = data.folder && done.FS.analyzePath(data.folder).exists
      ? done.FS.readdir(data.folder).filter((name) => !name.startsWith('.')).map((name) => ({ name, bytes: done.FS.readFile(`${data.folder}/${name}`) })) : null;
    postMessage({ status: done.status, out: new TextDecoder().decode(done.out), err: done.err, file, folder });
  } catch (error) {
    // Such as memory that the browser does not grant.
    postMessage({ status: 2, out: '', err: `rocecap ended: ${error.message ?? error}. The capture may be too large for this browser.`, file: null, folder: null });
  }
};
