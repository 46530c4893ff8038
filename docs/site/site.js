// The search, the packets within a lesson, and the contents.
// The search finds the parts of pages that contain all words. search-index.js is loaded at the first use.
'use strict';

const root = document.body.dataset.root;
const input = document.querySelector('input[type="search"]');
const results = document.getElementById('results');
const most = 40;
let index = null;  // a promise for the parts

function loadIndex() {
  index ??= new Promise((done, failed) => {
    const script = document.createElement('script');
    script.src = root + 'search-index.js';
    script.onload = () => done(window.searchIndex.map(([file, page, id, title, text, isSource]) =>
      ({ file, page, id, title, text, isSource, lower: text.toLowerCase(), lowerTitle: `${page} ${title}`.toLowerCase() })));
    script.onerror = () => failed(new Error('search-index.js is missing'));
    document.head.append(script);
  });
  return index;
}

// Returns how well a part matches; 0: it does not. A title counts more than the text, and a document more than a source.
function score(part, words) {
  let sum = 0;
  for (const word of words) {
    const inTitle = part.lowerTitle.includes(word);
    const inText = part.lower.split(word).length - 1;
    if (!inTitle && inText === 0)
      return 0;
    sum += (inTitle ? 10 : 0) + Math.min(inText, 5);
  }
  return part.isSource ? sum / 10 : sum;
}

// Appends the text to the element, with the words highlighted.
function appendMarked(element, text, words) {
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'i');
  text.split(pattern).forEach((piece, i) => {
    const node = i % 2 === 1 ? document.createElement('mark') : new Text();
    node.textContent = piece;
    element.append(node);
  });
}

function excerpt(part, words) {
  const first = Math.min(...words.map((word) => part.lower.indexOf(word)).filter((at) => at >= 0), part.text.length);
  const begin = first === part.text.length ? 0 : Math.max(0, part.text.lastIndexOf(' ', first - 60) + 1);
  return (begin > 0 ? '… ' : '') + part.text.slice(begin, begin + 200) + (part.text.length > begin + 200 ? ' …' : '');
}

function link(part, words) {
  const a = document.createElement('a');
  a.href = root + part.file + (part.id ? '#' + part.id : '');
  const title = document.createElement('b');
  title.textContent = part.title === part.page ? part.page : `${part.page}: ${part.title}`;
  const text = document.createElement('span');
  appendMarked(text, excerpt(part, words), words);
  a.append(title, text);
  return a;
}

async function search() {
  const query = input.value;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const parts = await loadIndex();
  if (query !== input.value)
    return;
  results.hidden = words.length === 0;
  if (results.hidden)
    return;
  const found = parts.map((part) => ({ part, score: score(part, words) })).filter((match) => match.score > 0)
    .sort((a, b) => b.score - a.score);
  const count = document.createElement('p');
  count.textContent = found.length === 0 ? 'Nothing has all of these words.'
    : found.length > most ? `The best ${most} of ${found.length} places` : found.length === 1 ? '1 place' : `${found.length} places`;
  results.replaceChildren(count, ...found.slice(0, most).map((match) => link(match.part, words)));
  results.scrollTop = 0;
}

function close() {
  results.hidden = true;
}

function step(by) {
  const links = [...results.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement) + by;
  (at < 0 ? input : links[Math.min(at, links.length - 1)])?.focus();
}

input.hidden = false;
input.addEventListener('focus', loadIndex, { once: true });
input.addEventListener('input', search);
input.addEventListener('focus', () => { results.hidden = input.value.trim() === ''; });
document.addEventListener('keydown', (event) => {
  const inSearch = event.target === input || results.contains(event.target);
  if (event.key === '/' && event.target !== input && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === 'Escape' && inSearch) {
    close();
    input.blur();
  } else if (event.key === 'Enter' && event.target === input) {
    results.querySelector('a')?.click();
  } else if (inSearch && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault();
    step(event.key === 'ArrowDown' ? 1 : -1);
  }
});
document.addEventListener('click', (event) => {
  if (event.target !== input && !event.target.closest('#results') || event.target.closest('#results a'))
    close();
});

// Only a visible frame can scroll to the fragment of its address.
for (const details of document.querySelectorAll('details.run'))
  details.addEventListener('toggle', () => {
    const frame = details.querySelector('iframe');
    frame.src = frame.dataset.src;
  }, { once: true });

// The contents show the current page; in a small window a link closes them.
const contents = document.getElementById('contents');
const current = contents.querySelector('[aria-current]');
if (current)
  contents.scrollTop = current.offsetTop - contents.clientHeight / 3;
contents.addEventListener('click', (event) => {
  if (event.target.closest('a') && contents.matches(':popover-open'))
    contents.hidePopover();
});
