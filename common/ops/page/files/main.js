// The page: selects and refreshes the view, and handles keys. It only reads /api/v1/.
import {el, timeText} from '/page/dom.js';
import {views} from '/page/views.js';

const kRefresh = 2000;
const main = document.getElementById('main');
const state = {view: null, part: '', query: new URLSearchParams(), serial: 0, timer: 0, stop: null, shown: ''};
// Paths that this process serves; null: unknown, so every view is offered.
let offered = null;
const titled = () => views.filter(view => view.title && (!offered || !view.needs || offered.has(view.needs)));

export class Refused extends Error {
  constructor(status, word, message) { super(message); this.status = status; this.word = word; }
}

// Returns one view's answer, with its envelope.
export async function ask(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== '' && value !== null && value !== undefined));
  const response = await fetch(`/api/v1/${path}${query.size ? '?' + query : ''}`, {cache: 'no-store', signal: AbortSignal.timeout(10000)});
  const text = await response.text();
  let answer;
  try { answer = JSON.parse(text); } catch { throw new Refused(response.status, 'UNREADABLE', text.slice(0, 200) || response.statusText); }
  mark(answer.marks);
  if (!response.ok) throw new Refused(response.status, answer.error || 'ERROR', answer.message || response.statusText);
  return answer;
}

function stale(text) {
  const bar = document.getElementById('stale');
  bar.hidden = !text;
  bar.textContent = text;
}

// Shows why the answer may be stale or incomplete, as the process reports.
function mark(marks) {
  const bar = document.getElementById('marks');
  bar.hidden = !marks || marks.length === 0;
  bar.replaceChildren(...(bar.hidden ? [] : [el('b', {class: 'busy'}, 'Possibly stale or incomplete: '), marks.join('; ')]));
}

// Decodes a part of the address; one that was cut or typed by hand may have a lone '%'.
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}
const noSuchView = name => ({name, title: 'No such view', once: true,
  show: async () => [el('h1', {}, 'No such view'), el('p', {class: 'bad', 'data-refused': true}, `This page has no view '${decoded(name)}'.`)]});

function readPlace() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  state.part = decoded(rest.join('/'));
  state.query = new URLSearchParams(query || '');
  state.view = views.find(view => view.name === name) || (name ? noSuchView(name) : views[0]);
}

// Changes the address without a new entry in the browser's history, so that the current view can be shared.
export function setQuery(name, value) {
  if (value) state.query.set(name, value); else state.query.delete(name);
  const query = state.query.toString();
  const part = state.part ? '/' + encodeURIComponent(state.part) : '';
  history.replaceState(null, '', `#/${state.view.name}${part}${query ? '?' + query : ''}`);
  refresh();
}

function nav() {
  document.getElementById('nav').replaceChildren(...titled().map(view =>
    el('a', {href: `#/${view.name}`, 'aria-current': view.name === (state.view.under || state.view.name) ? 'page' : null}, view.title)));
}

function go() {
  readPlace();
  nav();
  document.title = `${state.part || state.view.title} \u2013 Ratchet`;
  stale('');
  state.shown = '';
  main.replaceChildren(el('p', {class: 'quiet'}, 'loading \u2026'));
  main.focus({preventScroll: true});
  window.scrollTo(0, 0);
  refresh();
}

function showEnvelope(context) {
  document.getElementById('command').textContent = context.command || '';
  if (!context.envelope) return;
  const {answered_by, role, took_ms, at_ms} = context.envelope;
  document.getElementById('who').textContent = `${role} ${answered_by}`;
  document.getElementById('took').textContent = `answered in ${took_ms} ms at ${timeText(at_ms)}.`;
}

async function refresh() {
  clearTimeout(state.timer);
  if (state.stop) { state.stop(); state.stop = null; }
  const serial = ++state.serial;
  const context = {
    part: state.part, query: state.query, setQuery, envelope: null, command: '',
    async ask(path, parameters) {
      const answer = await ask(path, parameters);
      if (!context.envelope) { context.envelope = answer; context.command = context.command || answer.command; }
      return answer;
    },
    onStop(stop) { state.stop = stop; },
  };
  try {
    const nodes = await state.view.show(context);
    if (serial !== state.serial) return;
    if (nodes) replace(nodes);
    state.shown = timeText(Date.now());
    stale('');
    showEnvelope(context);
  } catch (error) {
    if (serial !== state.serial) return;
    const why = error instanceof Refused ? `${error.word}: ${error.message}` : `no answer (${error.message})`;
    if (state.shown) stale(`${why}. Shown data is from ${state.shown}.`);
    else main.replaceChildren(el('h1', {}, state.view.title || state.view.name), el('p', {class: 'bad', 'data-refused': true}, why));
    showEnvelope(context);
  }
  main.dataset.ready = String(serial);
  if (!state.view.once) state.timer = setTimeout(() => document.getElementById('live').checked && !document.hidden ? refresh() : later(), kRefresh);
}

function later() { state.timer = setTimeout(() => document.getElementById('live').checked && !document.hidden ? refresh() : later(), kRefresh); }

// Replaces the view; a focused filter keeps its text and cursor.
function replace(nodes) {
  const focused = document.activeElement;
  const kept = focused && main.contains(focused) && focused.id ? {id: focused.id, start: focused.selectionStart, value: focused.value} : null;
  main.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
  if (!kept) return;
  const again = document.getElementById(kept.id);
  if (!again) return;
  if (kept.value !== undefined) again.value = kept.value;
  again.focus();
  if (kept.start !== null && kept.start !== undefined && again.setSelectionRange) again.setSelectionRange(kept.start, kept.start);
}

const kThemes = ['auto', 'dark', 'light'];
function setTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.getElementById('theme').textContent = theme;
  try { localStorage.setItem('ratchet-theme', theme); } catch { /* the browser has no storage */ }
}
function savedTheme() {
  try { return localStorage.getItem('ratchet-theme') || 'auto'; } catch { return 'auto'; }
}
const nextTheme = () => setTheme(kThemes[(kThemes.indexOf(document.getElementById('theme').textContent) + 1) % kThemes.length]);

document.getElementById('theme').addEventListener('click', nextTheme);
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (['INPUT', 'TEXTAREA', 'SELECT'].includes(event.target.tagName)) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const shown = titled();
  if (event.key >= '1' && event.key <= '9' && shown[event.key - 1]) location.hash = `#/${shown[event.key - 1].name}`;
  else if (event.key === 'r') refresh();
  else if (event.key === 't') nextTheme();
  else if (event.key === '/') {
    const filter = document.getElementById('filter');
    if (filter) { event.preventDefault(); filter.focus(); }
  }
});
window.addEventListener('hashchange', go);
setTheme(kThemes.includes(savedTheme()) ? savedTheme() : 'auto');
go();
// A process with procedures only has no servers, tables and regions.
ask('').then(answer => {
  offered = new Set(answer.data.map(view => view.path.replace('/api/v1/', '')));
  nav();
}).catch(() => { /* every view stays offered, and shows an error if it does not exist */ });
