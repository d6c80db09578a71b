// Builds elements. Every text becomes a text node, so text from the cluster is never parsed as HTML.

export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

export function svg(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(node, attributes, children);
  return node;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function toneOf(text) {
  const word = String(text);
  if (/^(FAILED|ROLLEDBACK|CRASHED|ABNORMALLY|OFFLINE|LOST|DEAD)/.test(word) || word.includes('(parked)')) return 'bad';
  if (/^(SPLIT|MERG|WAITING|OPENING|CLOSING|ENABLING|DISABLING|LOGS)/.test(word) || word.includes('(paused)')) return 'busy';
  if (/^(OPEN|ONLINE|ENABLED|SUCCESS|active|complete)/.test(word)) return 'good';
  return '';
}

export function durationText(ms) {
  if (ms === null || ms === undefined) return '-';
  if (ms < 10 && !Number.isInteger(ms)) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3600000) return `${Math.floor(ms / 60000)} min ${Math.floor(ms / 1000) % 60} s`;
  return `${Math.floor(ms / 3600000)} h ${Math.floor(ms / 60000) % 60} min`;
}

export function sizeText(mib) {
  if (mib === null || mib === undefined) return '-';
  if (mib < 1024) return `${Math.round(mib)} MiB`;
  if (mib < 1024 * 1024) return `${(mib / 1024).toFixed(1)} GiB`;
  return `${(mib / 1024 / 1024).toFixed(1)} TiB`;
}

export function timeText(ms) {
  return ms ? new Date(ms).toISOString().replace('T', ' ').slice(0, 23) : '-';
}

export function show(name, value) {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (name.endsWith('_ms') && typeof value === 'number') {
    return value > 1e12 ? timeText(value) : durationText(value);
  }
  return String(value);
}

export function title(name) {
  return name.replace(/_(ms|mib|bytes)$/, '').replaceAll('_', ' ');
}

// Maximum characters of a table cell, and of a field in a list of fields.
const kCell = 120, kField = 1200;
const shortened = (text, longest) => text.length > longest
  ? el('span', {class: 'long', title: text.slice(0, 4000)}, text.slice(0, longest) + '\u2026') : text;

// `cells` is {column: row => node}; other columns show their values.
export function table(rows, columns, cells = {}, key = null) {
  if (rows.length === 0) return el('p', {class: 'quiet'}, 'None.');
  const names = columns || Object.keys(rows[0]);
  const numeric = names.map(name => rows.every(row => row[name] === null || row[name] === undefined || typeof row[name] === 'number'));
  const head = el('tr', {}, names.map((name, i) => el('th', {class: numeric[i] ? 'number' : null, scope: 'col'}, title(name))));
  const body = rows.map(row => el('tr', key ? {'data-key': key(row)} : {}, names.map((name, i) => {
    const content = cells[name] ? cells[name](row) : shortened(show(name, row[name]), kCell);
    const tone = /state|phase|event/.test(name) ? toneOf(row[name]) : '';
    return el('td', {class: [numeric[i] ? 'number' : '', tone].join(' ').trim() || null}, content);
  })));
  return el('div', {class: 'scroll'}, el('table', {}, el('thead', {}, head), el('tbody', {}, body)));
}

export function fields(object, names, cells = {}) {
  return el('dl', {}, names.filter(name => name in object).map(name => [
    el('dt', {}, title(name)),
    el('dd', {class: toneOf(object[name]) || null}, cells[name] ? cells[name](object) : shortened(show(name, object[name]), kField)),
  ]));
}

export const link = (to, text) => el('a', {href: to}, text);
export const pidLink = pid => pid ? link(`#/procedure/${pid}`, pid) : '-';
export const tableLink = name => link(`#/table/${encodeURIComponent(name)}`, name);
export const serverLink = name => name ? link(`#/server/${encodeURIComponent(name)}`, name) : '-';
