// Runs rocecap on the visitor's files, and shows what it prints and its report.
'use strict';

const byId = (id) => document.getElementById(id);
const commands = { explain: 'Explain', check: 'Check', flows: 'Flows', psns: 'First PSNs' };
const workerUrl = URL.createObjectURL(new Blob([byId('engine').textContent], { type: 'text/javascript' }));

// The opened files: their worker, their arguments, and what was printed. Of a model, `original` is the capture that it was made from.
let opened = null;

// Runs a command in the worker, after those before it. `file`, `folder`: what the command writes.
function run(args, file, folder, of = opened) {
  const { worker, mount, start, inputs } = of;
  const call = of.last.then(() => new Promise((done) => {
    worker.onmessage = ({ data }) => data.progress === undefined ? done(data) : (byId('progress').value = data.progress);
    byId('progress').removeAttribute('value');
    byId('progress').hidden = false;
    worker.postMessage({ args: [args[0], ...inputs(args[0]), ...args.slice(1)], mount, start, file, folder });
  })).finally(() => { byId('progress').hidden = true; });
  of.last = call;
  return call;
}

function say(text, failed = false) {
  byId('status').textContent = text;
  byId('status').classList.toggle('failed', failed);
}

// A name that no program takes for an option.
function argument(name) {
  return name.startsWith('-') ? './' + name : name;
}

// Returns the arguments for these files: a run directory, or one capture with its logs; or a sentence. `folder`: the name of theirs.
function argumentsOf(files, folder) {
  const names = files.map((file) => file.name);
  if (names.includes('run.json'))
    return { mount: '/in/' + folder, start: '/in', inputs: () => [argument(folder)], name: folder };
  const logs = names.filter((name) => name.endsWith('.jsonl'));
  const captures = names.filter((name) => !logs.includes(name));
  if (captures.length !== 1)
    return captures.length === 0 ? 'These are only run logs: add the capture, or drop the whole folder of the run.'
      : `These are ${captures.length} files: give one capture and its run logs (.jsonl), or the folder of a run with its run.json.`;
  const logOptions = logs.flatMap((log) => ['--log', argument(log)]);
  return {
    mount: '/in/' + folder, start: '/in/' + folder, name: captures[0],
    inputs: (command) => [argument(captures[0]), ...command === 'anonymize' ? [] : logOptions],
  };
}

async function open(files, folder = 'run', model = null) {
  for (const one of [opened, opened?.original])
    if (one && one !== model?.original)
      one.worker.terminate();
  opened = null;
  byId('result').hidden = true;
  byId('progress').hidden = true;
  const parts = argumentsOf(files, folder);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (typeof parts === 'string')
    return say(parts, true);
  if (size > limit * 1e6)
    return say(`These files have ${Math.ceil(size / 1e6)} MB, and this page reads up to ${limit} MB: cut a part out with editcap, or use rocecap on your machine.`, true);
  const mine = opened = { ...parts, ...model, worker: new Worker(workerUrl), last: Promise.resolve(), printed: new Map(), report: null };
  mine.worker.postMessage({ engine: byId('wasm').textContent, files });
  say(`Reading ${mine.name} …`);
  const explained = await print('explain', false);
  if (mine !== opened)
    return;
  if (explained.status === 2 && explained.out === '')
    return say(explained.err, true);
  return present(mine);
}

// Shows opened files, of which the explanation is printed.
async function present(mine) {
  say(mine.name);
  byId('as-captured').hidden = !mine.original;
  byId('json').checked = false;
  byId('report').hidden = true;
  byId('result').hidden = false;
  show('explain');
  if (!mine.report) {
    const { file, err } = await run(['report', '-o', '/report.html'], '/report.html');
    if (mine !== opened)
      return;
    if (!file)
      return say(err, true);
    mine.report = new Blob([file], { type: 'text/html' });
    mine.address = URL.createObjectURL(mine.report);
  }
  byId('report').src = mine.address;
  byId('report').hidden = false;
}

// Applies a rule of the link emulator to what was captured.
async function model(rule) {
  const mine = opened;
  const original = mine.original ?? mine;
  const { folder, status, err } = await run(['simulate', '-o', '/model', '--', rule], null, '/model', original);
  if (mine !== opened)
    return;
  if (status !== 0)
    return say(err, true);
  open(folder.map(({ name, bytes }) => new File([bytes], name)), 'model', { original, name: `A model, not a capture: ${original.name}, ${rule}` });
}

// Runs a command once.
function print(command, json) {
  const key = `${command} ${json}`;
  if (!opened.printed.has(key))
    opened.printed.set(key, run(json ? [command, '--json'] : [command]));
  return opened.printed.get(key);
}

// The text, with a link to each frame that it names.
function linked(text) {
  return text.split(/\b(frame \d+)/).map((piece, i) => {
    if (i % 2 === 0)
      return piece;
    const a = document.createElement('a');
    a.href = '#frame-' + piece.slice('frame '.length);
    a.textContent = piece;
    return a;
  });
}

async function show(command) {
  const mine = opened;
  const json = byId('json').checked;
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    tab.ariaSelected = tab.dataset.command === command;
    tab.tabIndex = tab.dataset.command === command ? 0 : -1;
  }
  byId('answer').setAttribute('aria-busy', 'true');
  const { out, err } = await print(command, json);
  if (mine !== opened || selected() !== command || json !== byId('json').checked)
    return;
  byId('answer').setAttribute('aria-busy', 'false');
  byId('note').hidden = err === '';
  byId('note').textContent = err.trim();
  byId('text').hidden = out === '';
  byId('text').classList.toggle('json', json);
  byId('text').replaceChildren(...json ? [out] : linked(out));
}

function selected() {
  return document.querySelector('[role="tab"][aria-selected="true"]').dataset.command;
}

function save(data, name) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(data);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}

async function saveAnonymized() {
  const { file, err } = await run(['anonymize', '/anonymized.pcapng'], '/anonymized.pcapng');
  if (!file)
    return say(err, true);
  save(new Blob([file]), 'anonymized.pcapng');
  say(err.trim() || 'anonymized.pcapng is saved.');
}

// The files of a dropped folder, without its subfolders.
async function filesIn(folder) {
  const reader = folder.createReader();
  const entries = [];
  for (let some; (some = await new Promise((done, failed) => reader.readEntries(done, failed))).length > 0;)
    entries.push(...some);
  return Promise.all(entries.filter((entry) => entry.isFile).map((entry) => new Promise((done, failed) => entry.file(done, failed))));
}

async function dropped(items) {
  let folder;
  const files = [...items].filter((item) => item.kind === 'file').map((item) => {
    const entry = item.webkitGetAsEntry();
    if (!entry?.isDirectory)
      return item.getAsFile();
    folder = entry.name;
    return filesIn(entry);
  });
  return [(await Promise.all(files)).flat(), folder];
}

for (const [command, title] of Object.entries(commands)) {
  const tab = document.createElement('button');
  Object.assign(tab, { type: 'button', role: 'tab', textContent: title, ariaSelected: 'false' });
  tab.setAttribute('aria-controls', 'answer');
  tab.dataset.command = command;
  tab.addEventListener('click', () => show(command));
  document.querySelector('[role="tablist"]').append(tab);
}
document.querySelector('[role="tablist"]').addEventListener('keydown', (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by)
    return;
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const next = tabs[(tabs.indexOf(document.activeElement) + by + tabs.length) % tabs.length];
  next.focus();
  show(next.dataset.command);
});
for (const sample of document.querySelectorAll('script.sample')) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', textContent: sample.dataset.title });
  button.addEventListener('click', () => open(sample.textContent.trim().split('\n').map((line) => {
    const [name, base64] = line.split(' ');
    return new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name);
  }), sample.dataset.folder));
  byId('samples').append(' ', button);
}
byId('files').addEventListener('change', () => { if (byId('files').files.length > 0) open([...byId('files').files]); });
for (const kind of ['dragover', 'dragleave', 'drop'])
  addEventListener(kind, (event) => {
    event.preventDefault();
    byId('drop').classList.toggle('over', kind === 'dragover');
  });
addEventListener('drop', async ({ dataTransfer }) => {
  const [files, folder] = await dropped(dataTransfer.items);
  if (files.length > 0)
    open(files, folder);
});
byId('json').addEventListener('change', () => show(selected()));
byId('copy').addEventListener('click', () => navigator.clipboard.writeText(byId('text').textContent)
  .then(() => say('Copied.'), () => getSelection().selectAllChildren(byId('text'))));
byId('what-if').addEventListener('submit', (event) => {
  event.preventDefault();
  model(byId('rule').value);
});
byId('as-captured').addEventListener('click', () => {
  opened.worker.terminate();
  opened = opened.original;
  present(opened);
});
byId('save-report').addEventListener('click', () => { if (opened.report) save(opened.report, 'report.html'); });
byId('save-anonymized').addEventListener('click', saveAnonymized);
byId('text').addEventListener('click', (event) => {
  const hash = event.target.closest('a')?.hash;
  if (!hash)
    return;
  event.preventDefault();
  if (!opened.address)
    return;
  byId('report').src = opened.address + hash;
  byId('report').scrollIntoView();
});
