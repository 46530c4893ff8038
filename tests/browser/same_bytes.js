// same_bytes.js FOLDER ROCECAP PATH...: runs rocecap for WebAssembly, which is in FOLDER, and the native ROCECAP on each capture and run
// directory, and on a part of each capture, and compares what they print and their exit codes. Prints each difference, and the number of
// runs. Exit status 0: no difference.
'use strict';
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const [folder, native, ...paths] = process.argv.slice(2);
const create = require(path.resolve(folder, 'rocecap.js'));
const runRocecap = new Function(fs.readFileSync('src/tools/rocecap/browser/run.js', 'utf8') + 'return runRocecap;')();

const commands = [['decode', '--json'], ['decode'], ['flows', '--json'], ['flows'], ['check', '--json'], ['check'],
  ['explain', '--json'], ['explain', '--why'], ['psns', '--json'], ['psns'], ['timeline'], ['verify']];
const isFolder = (name) => fs.statSync(name).isDirectory();
const captures = /\.(pcap|pcapng|gz|zst|lz4)$/;
const found = paths.flatMap((name) => isFolder(name) ? [name, ...fs.readdirSync(name, { recursive: true }).map((file) => path.join(name, file))] : [name]);
// A folder with a run.json is a run directory.
const whole = found.filter((name) => isFolder(name) ? fs.existsSync(path.join(name, 'run.json')) : captures.test(name));

// Captures that end too early.
const cut = path.join(folder, 'cut');
fs.rmSync(cut, { recursive: true, force: true });
const inputs = whole.flatMap((name) => {
  if (isFolder(name))
    return [name];
  const part = path.join(cut, name);
  const bytes = fs.readFileSync(name);
  fs.mkdirSync(path.dirname(part), { recursive: true });
  fs.writeFileSync(part, bytes.subarray(0, bytes.length * 2 / 3));
  return [name, part];
});

function copy(FS, name) {
  FS.mkdirTree('/' + path.dirname(name));
  if (!isFolder(name))
    return FS.writeFile('/' + name, fs.readFileSync(name));
  for (const file of fs.readdirSync(name))
    copy(FS, path.join(name, file));
}

async function main() {
  const wasm = await WebAssembly.compile(fs.readFileSync(path.join(folder, 'rocecap.wasm')));
  let differences = 0;
  for (const input of inputs)
    for (const [command, ...options] of commands) {
      const args = [command, input, ...options];
      const there = await runRocecap(create, wasm, args, ({ FS }) => copy(FS, input));
      const here = spawnSync(native, args, { maxBuffer: 1 << 30 });
      const same = here.stdout.equals(there.out) && here.stderr.toString() === there.err && here.status === there.status;
      if (same)
        continue;
      ++differences;
      console.log(`rocecap ${args.join(' ')}: status ${here.status}, here ${there.status}; ${here.stdout.length} bytes, here ${there.out.length}` +
        `\n  native: ${here.stderr}\n  here: ${there.err}`);
    }
  console.log(`${inputs.length * commands.length} runs of ${inputs.length} captures and run directories, ${differences} with differences`);
  process.exitCode = differences === 0 && inputs.length > 0 ? 0 : 1;
}
main();
