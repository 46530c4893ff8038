// Runs rocecap once. Each run has an instance of its own, because the program keeps state, and its memory grows but never shrinks.
// wasm: the compiled WebAssembly.Module; prepare(FS): puts the files in place.
'use strict';

async function runRocecap(create, wasm, args, prepare) {
  const program = await create({
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(wasm, imports).then((instance) => done(instance, wasm));
      return {};
    },
  });
  const { FS } = program;
  // Standard output and standard error are files: the streams of the C library would be text.
  for (const [fd, path] of [[1, '/stdout'], [2, '/stderr']]) {
    FS.closeStream(fd);
    FS.open(path, 'w');
  }
  prepare(program);
  const status = program.callMain([...args]);
  const text = (path) => new TextDecoder().decode(FS.readFile(path));
  return { status, out: FS.readFile('/stdout'), err: text('/stderr'), FS };
}
