// The views of the page. Each requests its data and returns elements; `command` is the CLI command with the same data.
import {durationText, el, fields, link, pidLink, serverLink, show, sizeText, table, tableLink, timeText, toneOf} from '/page/dom.js';
import {keyStrip, phaseLegend, sizeBar, stepBars, stepDiagram} from '/page/draw.js';
import {showEvents} from '/page/events.js';

const kPage = 200;

const card = (name, value, tone = '') => el('div', {class: 'card'}, el('span', {class: 'quiet'}, name), el('b', {class: tone || null}, value));

function filterBox(context, hint) {
  const box = el('input', {type: 'search', id: 'filter', placeholder: hint, 'aria-label': hint, value: context.query.get('filter') || ''});
  box.addEventListener('change', () => context.setQuery('filter', box.value));
  return box;
}

function filtered(context, rows) {
  const words = (context.query.get('filter') || '').toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? rows : rows.filter(row => {
    const text = Object.values(row).join(' ').toLowerCase();
    return words.every(word => text.includes(word));
  });
}

function pager(context, envelope) {
  const {offset, total} = envelope, shown = envelope.data.length;
  const to = at => context.setQuery('offset', at > 0 ? String(at) : '');
  return el('div', {class: 'bar'},
    el('button', {type: 'button', disabled: offset === 0, onclick: () => to(Math.max(0, offset - kPage))}, 'previous'),
    el('button', {type: 'button', disabled: offset + shown >= total, onclick: () => to(offset + kPage)}, 'next'),
    el('span', {class: 'quiet', 'data-total': total}, total === 0 ? 'none' : shown === 0 ? `none: the offset is above the total of ${total}` : `${offset + 1} to ${offset + shown} of ${total}`));
}

const part = context => ({limit: kPage, offset: context.query.get('offset') || ''});

function chains(why) {
  if (why.chains.length === 0) return el('p', {class: 'good'}, `${why.subject}: ${why.verdict}`);
  const linksOf = chain => why.links.filter(one => one.chain === chain.chain);
  return el('div', {}, el('p', {}, why.verdict), why.chains.map(chain => el('div', {class: 'chain', 'data-cause': chain.cause},
    el('ol', {}, linksOf(chain).map(one => el('li', {}, one.subject, 'lasts_ms' in one ? el('span', {class: 'quiet'}, ` [${durationText(one.lasts_ms)}]`) : null,
      one.waits_for ? el('div', {class: 'quiet'}, `waits for ${one.waits_for}`) : null))),
    el('div', {}, el('b', {class: 'bad'}, `${chain.cause}: `), chain.cause_text),
    chain.next ? el('div', {class: 'quiet'}, `next: ${chain.next}${'next_in_ms' in chain ? ` in ${durationText(chain.next_in_ms)}` : ''}`) : null,
    chain.verb ? el('div', {}, 'action: ', el('code', {}, chain.verb)) : null,
    chain.more ? el('div', {class: 'quiet'}, `${chain.more} more wait for the same cause`) : null)));
}

// Runs a part of a view that may fail without the rest.
async function attempt(work) {
  try { return await work(); } catch (error) { return el('p', {class: 'bad'}, error.message); }
}

async function cluster(context) {
  const {data} = await context.ask('cluster');
  const why = await attempt(async () => chains((await context.ask('why', {chains: 3})).data));
  const problems = data.problems || [];
  const pageOf = data.page ? el('p', {}, 'Page of the active master: ', link(`http://${data.page}/`, data.page)) : null;
  return [
    el('h1', {}, 'Cluster ', el('span', {class: 'quiet mono'}, show('cluster', data.cluster))),
    el('section', {class: `problems ${problems.length ? 'some' : ''}`},
      el('b', {class: problems.length ? 'bad' : 'good'}, problems.length ? `${problems.length} problems` : 'No problems'),
      problems.length ? el('ul', {}, problems.map(problem => el('li', {}, problem))) : null),
    el('div', {class: 'cards'},
      card('epoch', show('epoch', data.epoch)), card('activation', show('activation', data.activation), toneOf(data.activation)),
      'live_servers' in data ? [
        card('servers', `${data.live_servers.length} live`, data.dead_servers.length ? 'bad' : 'good'),
        card('dead', data.dead_servers.length, data.dead_servers.length ? 'bad' : ''),
        card('tables', show('tables', data.tables)),
        card('regions open', `${show('', data.regions_open)} of ${show('', data.regions)}`, data.regions_open === data.regions ? 'good' : 'busy'),
        card('in transition', show('', data.regions_in_transition), data.regions_in_transition ? 'busy' : '')] : null,
      card('procedures', show('', data.procedures_unfinished)), card('stuck', show('', data.procedures_stuck), data.procedures_stuck ? 'bad' : '')),
    el('h2', {}, 'Why'), why,
    el('h2', {}, 'State'),
    fields(data, ['active_master', 'backup_masters', 'role', 'this_master', 'meta', 'live_servers', 'dead_servers', 'paused', 'fault_injection',
      'automatic_restarts', 'descriptors', 'clients', 'version', 'uptime_ms'], {
      paused: row => row.paused || 'none', fault_injection: row => row.fault_injection || 'off', automatic_restarts: row => row.automatic_restarts || 'none',
      descriptors: row => row.descriptors.map(text => el('div', {}, text)),
      live_servers: row => row.live_servers.map((name, i) => [i ? ', ' : '', serverLink(name)]),
      dead_servers: row => row.dead_servers.length ? row.dead_servers.map((name, i) => [i ? ', ' : '', serverLink(name)]) : 'none'}),
    pageOf,
    (data.activation_steps || []).length ? [el('h2', {}, 'Start of this master'), table(data.activation_steps, ['step', 'started_ms', 'took_ms', 'detail'])] : null,
  ].flat().filter(Boolean);
}

const kRecent = 20;

// The procedures that ended last: from the masters' history, or, in a process without one, those that it remembers.
async function recentlyFinished(context) {
  const columns = ['pid', 'parent', 'type', 'state'];
  const cells = {pid: row => pidLink(row.pid), parent: row => pidLink(row.parent)};
  try {
    const {data} = await context.ask('history', {limit: kRecent});
    return table(filtered(context, data), [...columns, 'ended', 'took_ms', 'error', 'text'], cells, row => row.pid);
  } catch (error) {
    if (error.status !== 404) return el('p', {class: 'bad'}, error.message);
  }
  return attempt(async () => table(filtered(context, (await context.ask('procedures', {all: 1, limit: kRecent})).data), [...columns, 'age_ms', 'text'], cells, row => row.pid));
}

async function procedures(context) {
  const all = context.query.get('all') === '1';
  const answer = await context.ask('procedures', {...part(context), all: all ? 1 : ''});
  const box = el('input', {type: 'checkbox', id: 'all', checked: all});
  box.addEventListener('change', () => context.setQuery('all', box.checked ? '1' : ''));
  return [el('h1', {}, 'Procedures'),
    el('div', {class: 'bar'}, filterBox(context, 'filter these rows'), el('label', {}, box, ' include finished'), link('#/history', 'history')),
    answer.total === 0 ? [el('p', {class: 'quiet'}, 'No procedure is running.'), el('h2', {}, 'Recently finished'), await recentlyFinished(context)] : [pager(context, answer),
      table(filtered(context, answer.data), ['pid', 'parent', 'type', 'state', 'age_ms', 'owner', 'submitted', 'attempt', 'waits_for', 'last_error', 'text'],
        {pid: row => pidLink(row.pid), parent: row => pidLink(row.parent)}, row => row.pid)]].flat();
}

let stepTables = null;
async function stepsOf(type) {
  if (!stepTables) stepTables = await attempt(async () => (await (await fetch('/api/v1/steps')).json()).data);
  const entry = Array.isArray(stepTables) ? stepTables.find(one => one.type === type) : null;
  return entry ? entry.steps : [];
}

const kMostMembers = 500;

function treeRows(tree) {
  const children = new Map();
  for (const row of tree) children.set(row.parent, [...(children.get(row.parent) || []), row]);
  const rows = [];
  const add = (row, depth) => { rows.push({...row, depth}); (children.get(row.pid) || []).forEach(child => add(child, depth + 1)); };
  const known = new Set(tree.map(row => row.pid));
  tree.filter(row => !known.has(row.parent)).forEach(row => add(row, 0));
  return rows;
}

async function procedure(context) {
  const pid = context.part;
  context.command = `ratchet procedure ${pid}`;
  let data;
  try {
    ({data} = await context.ask(`procedure/${encodeURIComponent(pid)}`));
  } catch (error) {
    if (error.status !== 404) throw error;
    return endedProcedure(context, pid).catch(() => { throw error; });
  }
  const finished = /^(SUCCESS|FAILED|ROLLEDBACK)/.test(data.state);
  const why = finished ? null : await attempt(async () => chains((await context.ask('why', {subject: pid})).data));
  const current = (data.state.split(':')[1] || '').split(' ')[0];
  const done = new Set(data.history.map(step => step.step));
  const steps = await stepsOf(data.type);
  const began = text => Date.parse(text.replace(' ', 'T') + 'Z');
  const bars = data.history.map(step => ({step: step.step, began_ms: began(step.began), ended_ms: began(step.began) + step.us / 1000}));
  return [el('h1', {}, `${data.type} ${data.pid} `, el('span', {class: toneOf(data.state)}, data.state)),
    el('p', {class: 'mono'}, data.text),
    why ? [el('h2', {}, 'Why'), why] : null,
    fields(data, ['parent', 'owner', 'peer', 'method', 'submitted', 'updated', 'waits_for', 'wait_chain', 'locks', 'paused', 'attempt', 'last_error', 'next_try_in_ms', 'error'],
      {parent: row => pidLink(row.parent)}),
    steps.length ? [el('h2', {}, 'Steps'), stepDiagram(steps, done, finished ? '' : current)] : null,
    el('h2', {}, 'Tree'),
    data.tree.length > kMostMembers ? el('p', {class: 'quiet'}, `The first ${kMostMembers} of ${data.tree.length} members.`) : null,
    table(treeRows(data.tree).slice(0, kMostMembers), ['pid', 'type', 'state', 'age_ms', 'waits_for', 'text'],
      {pid: row => ['\u00a0'.repeat(row.depth * 4), row.pid === data.pid ? el('b', {}, row.pid) : pidLink(row.pid)]}),
    el('h2', {}, 'History'), stepBars(bars, () => 'p3'),
    table(data.history, ['step', 'outcome', 'epoch', 'worker', 'began', 'us', 'detail']),
    data.verbs.length ? [el('h2', {}, 'Operators'), table(data.verbs, ['verb', 'operator', 'reason', 'time'])] : null,
    finished ? null : el('p', {class: 'quiet'}, 'Verbs: ', ['abort', 'park', 'unpark', 'pause', 'bypass'].map(verb => [el('code', {}, `ratchet ${verb} ${pid}`), ' '])),
  ].flat().filter(Boolean);
}

// Finished procedures, as long as the masters keep them; newest first.
async function history(context) {
  const chosen = name => {
    const box = el('input', {type: 'search', id: `choose-${name}`, placeholder: name, 'aria-label': name, value: context.query.get(name) || ''});
    box.addEventListener('change', () => context.setQuery(name, box.value));
    return box;
  };
  const names = ['type', 'table', 'since', 'until', 'outcome'];
  const answer = await context.ask('history', {...part(context), ...Object.fromEntries(names.map(name => [name, context.query.get(name) || '']))});
  const most = Math.max(0, ...answer.data.map(row => row.took_ms));
  return [el('h1', {}, 'History'), el('div', {class: 'bar'}, names.map(chosen), filterBox(context, 'filter these rows')), pager(context, answer),
    table(filtered(context, answer.data), ['pid', 'parent', 'type', 'state', 'ended', 'took_ms', 'epoch', 'owner', 'error', 'text'],
      {pid: row => pidLink(row.pid), parent: row => pidLink(row.parent), took_ms: row => sizeBar(row.took_ms, most, durationText(row.took_ms))}, row => row.pid)];
}

// A procedure that the master has forgotten: its tree from the history.
async function endedProcedure(context, pid) {
  const {data} = await context.ask(`trace/${encodeURIComponent(pid)}`);
  context.command = `ratchet trace ${pid}`;
  const spans = data.resourceSpans.flatMap(one => one.scopeSpans).flatMap(one => one.spans).map(span => ({...span,
    of: Object.fromEntries(span.attributes.map(({key, value}) => [key.replace('ratchet.', ''), Object.values(value)[0]]))}));
  const at = nanos => Number(BigInt(nanos) / 1000n) / 1000;
  const whole = spans.filter(span => span.of.type);
  const own = whole.find(span => span.of.pid === pid);
  const steps = spans.filter(span => span.of.step && span.of.pid === pid).map(span => ({step: span.of.step, outcome: span.of.outcome, epoch: span.of.epoch, worker: span.of.worker,
    began: timeText(at(span.startTimeUnixNano)), began_ms: at(span.startTimeUnixNano), ended_ms: at(span.endTimeUnixNano), detail: span.of.detail}));
  return [el('h1', {}, `${own.of.type} ${pid} `, el('span', {class: toneOf(own.of.state)}, own.of.state)), el('p', {class: 'mono'}, own.of.text),
    el('p', {class: 'quiet'}, `Ended ${timeText(at(own.endTimeUnixNano))}; from the history.`),
    el('h2', {}, 'Tree'), table(whole.slice(0, kMostMembers).map(span => ({pid: Number(span.of.pid), type: span.of.type, state: span.of.state, began: timeText(at(span.startTimeUnixNano)),
      took_ms: at(span.endTimeUnixNano) - at(span.startTimeUnixNano), text: span.of.text})), null, {pid: row => row.pid === Number(pid) ? el('b', {}, row.pid) : pidLink(row.pid)}),
    el('h2', {}, 'History'), stepBars(steps, () => 'p3'), table(steps, ['step', 'outcome', 'epoch', 'worker', 'began', 'detail'])];
}

async function locks(context) {
  const {data} = await context.ask('locks');
  const pids = text => text === null ? '-' : String(text).split(' ').map((pid, i) => [i ? ' ' : '', pidLink(Number(pid))]);
  const pauses = await attempt(async () => table((await context.ask('pauses')).data, ['paused', 'operator', 'reason', 'since']));
  return [el('h1', {}, 'Locks'), el('div', {class: 'bar'}, filterBox(context, 'filter these rows')),
    table(filtered(context, data.locks), ['resource', 'exclusive', 'shared', 'waiting'],
      {exclusive: row => pids(row.exclusive), shared: row => pids(row.shared), waiting: row => pids(row.waiting)}),
    data.limits.length ? [el('h2', {}, 'Limits with waiters'), table(data.limits, ['resource', 'limit', 'running', 'waiting'])] : null,
    el('h2', {}, 'Wait chains'), data.wait_chains.length ? el('ul', {}, data.wait_chains.map(chain => el('li', {class: 'mono'}, chain))) : el('p', {class: 'quiet'}, 'None.'),
    data.cycles.length ? [el('h2', {class: 'bad'}, 'Deadlocks: a defect'), el('ul', {}, data.cycles.map(cycle => el('li', {}, cycle)))] : null,
    el('h2', {}, 'Pauses'), pauses].flat().filter(Boolean);
}

// Shows columns with sizes as bars, relative to the largest value on the page.
function sizeCells(rows) {
  const cell = name => { const most = Math.max(0, ...rows.map(row => row[name] || 0)); return row => sizeBar(row[name], most, sizeText(row[name])); };
  return {store_mib: cell('store_mib'), memstore_mib: cell('memstore_mib')};
}

async function tables(context) {
  const answer = await context.ask('tables', part(context));
  return [el('h1', {}, 'Tables'), el('div', {class: 'bar'}, filterBox(context, 'filter these rows')), pager(context, answer),
    table(filtered(context, answer.data), ['table', 'state', 'regions', 'regions_open', 'store_files', 'store_mib', 'memstore_mib'], {table: row => tableLink(row.table), ...sizeCells(answer.data)}),
    el('p', {}, link('#/regions', 'all regions'), ', ', link('#/regions?moving=1', 'those in transition'))];
}

async function regionRows(context, name, server = '') {
  const answer = await context.ask('regions', {...part(context), table: name, server, moving: context.query.get('moving') || ''});
  return [pager(context, answer), answer.data.length ? keyStrip(answer.data) : null,
    table(filtered(context, answer.data), [...(name ? [] : ['table']), 'region', 'start', 'end', 'state', 'server', 'procedure', 'store_files', 'store_mib', 'memstore_mib'],
      {table: row => tableLink(row.table), server: row => serverLink(row.server), procedure: row => pidLink(row.procedure), ...sizeCells(answer.data)}, row => row.region)];
}

async function oneTable(context) {
  context.command = `ratchet describe ${context.part}; ratchet regions ${context.part}`;
  const {data} = await context.ask(`table/${encodeURIComponent(context.part)}`);
  const why = await attempt(async () => chains((await context.ask('why', {subject: `table ${context.part}`})).data));
  return [el('h1', {}, `Table ${context.part}`), why, el('h2', {}, 'Regions'), ...await regionRows(context, context.part),
    el('h2', {}, 'Attributes'), table(data, ['family', 'attribute', 'value'])].filter(Boolean);
}

async function regions(context) {
  return [el('h1', {}, 'Regions'), el('div', {class: 'bar'}, filterBox(context, 'filter these rows')), ...await regionRows(context, '')].filter(Boolean);
}

const serverCells = {server: row => serverLink(row.server), crash_procedure: row => pidLink(row.crash_procedure), page: row => row.page ? link(`http://${row.page}/`, row.page) : '-',
  disk_free_bytes: row => sizeText(row.disk_free_bytes === null || row.disk_free_bytes === undefined ? null : row.disk_free_bytes / 1048576)};

async function servers(context) {
  const answer = await context.ask('servers');
  return [el('h1', {}, 'Servers'), el('div', {class: 'bar'}, filterBox(context, 'filter these rows')),
    table(filtered(context, answer.data), ['server', 'state', 'regions', 'meta', 'last_report_ms', 'requests_per_second', 'orders', 'log_files', 'store_mib', 'memstore_mib', 'disk_free_bytes', 'descriptors',
      'crash_procedure', 'storage_hangs_ms', 'restarts', 'version', 'page'], {...serverCells, ...sizeCells(answer.data)}),
    el('h2', {}, 'Pending orders'), await attempt(async () => table((await context.ask('orders')).data, null, serverCells))];
}

async function server(context) {
  const {data} = await context.ask('servers');
  context.command = `ratchet why server ${context.part}`;
  const row = data.find(one => one.server === context.part);
  if (!row) return [el('h1', {}, `Server ${context.part}`), el('p', {class: 'bad'}, 'The master does not know this server.')];
  const why = await attempt(async () => chains((await context.ask('why', {subject: `server ${context.part}`})).data));
  return [el('h1', {}, `Server ${context.part} `, el('span', {class: toneOf(row.state)}, row.state)), why, fields(row, Object.keys(row), {...serverCells, store_mib: one => sizeText(one.store_mib), memstore_mib: one => sizeText(one.memstore_mib)}),
    el('h2', {}, 'Orders'), await attempt(async () => table((await context.ask('orders')).data.filter(one => one.server === context.part), null, serverCells)),
    el('h2', {}, 'Regions'), ...await regionRows(context, '', context.part),
    el('p', {class: 'quiet'}, 'Verbs: ', el('code', {}, `ratchet drain ${context.part}`))];
}

// One failover: the steps of the new master's activation, as bars over the time since its election.
function failover(steps) {
  const whole = Math.max(1, ...steps.map(step => step.started_ms + (step.took_ms || 0)));
  const rows = steps.map(step => el('tr', {},
    el('td', {}, step.step), el('td', {class: 'quiet'}, `${step.started_ms} ms`), el('td', {}, step.took_ms === null ? 'in progress' : `${step.took_ms} ms`),
    el('td', {}, el('progress', {max: whole, value: step.took_ms || 0})), el('td', {class: 'quiet'}, step.detail || '')));
  return el('section', {'data-failover': steps[0].epoch},
    el('h3', {}, `Epoch ${steps[0].epoch} `, el('span', {class: 'mono'}, steps[0].master || ''), el('span', {class: 'quiet'}, ` elected ${new Date(steps[0].elected_ms).toISOString()}`)),
    el('div', {class: 'scroll'}, el('table', {}, el('tbody', {}, ...rows))));
}

function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) groups.set(row[key], [...(groups.get(row[key]) || []), row]);
  return [...groups.values()];
}

async function timeline(context) {
  const {data} = await context.ask('timeline', {limit: 5000});
  const failovers = await attempt(async () => grouped((await context.ask('failovers', {limit: 500})).data, 'epoch').map(failover)) || [];
  const recoveries = grouped(data, 'pid');
  return [el('h1', {}, 'Recoveries'), phaseLegend(), recoveries.length === 0 ? el('p', {class: 'quiet'}, 'No server crash is in the history.') : null,
    ...recoveries.map(steps => el('section', {'data-recovery': steps[0].pid},
      el('h2', {}, pidLink(steps[0].pid), ` ${steps[0].server} `, el('span', {class: steps[0].finished ? 'good' : 'busy'}, steps[0].finished ? 'ended' : 'in progress'),
        el('span', {class: 'quiet'}, ` epoch ${[...new Set(steps.map(step => step.epoch))].join(', ')}`)),
      stepBars(steps))),
    el('h1', {}, 'Failovers'), el('p', {class: 'quiet'}, 'Masters that became active, newest first.'), ...[failovers].flat()].filter(Boolean);
}

async function store(context) {
  const {data} = await context.ask('store');
  const types = await attempt(async () => table((await context.ask('types')).data, null));
  return [el('h1', {}, 'Procedure store'), data.length ? fields(data[0], Object.keys(data[0])) : null, el('h2', {}, 'By type'), types].filter(Boolean);
}

async function settings(context) {
  const {data, answered_by} = await context.ask('settings');
  return [el('h1', {}, 'Settings of ', el('span', {class: 'mono'}, answered_by)), el('div', {class: 'bar'}, filterBox(context, 'filter these rows')),
    table(filtered(context, data), ['name', 'value', 'source'])];
}

// Shows the settings that administrators change, the snapshots, and the findings of the reconciler.
async function administration(context) {
  context.command = 'ratchet peers; snapshots; namespaces; switch; drained; reconcile --no-look';
  const parts = [['Peers', 'peers'], ['Snapshots', 'snapshots'], ['Namespaces', 'namespaces'], ['Quotas', 'quotas'], ['Switches', 'switches'], ['Drains', 'drains'], ['Findings of the reconciler', 'findings']];
  const sections = [];
  for (const [title, path] of parts) {
    const shown = await attempt(async () => {
      const {data} = await context.ask(path, {limit: kPage});
      return data.length ? table(filtered(context, data), Object.keys(data[0])) : el('p', {class: 'quiet'}, 'None.');
    });
    sections.push(el('section', {id: `part-${path}`}, el('h2', {}, title), shown));
  }
  return [el('h1', {}, 'Administration'), el('div', {class: 'bar'}, filterBox(context, 'filter these rows')), ...sections];
}

export const views = [
  {name: 'cluster', title: 'Cluster', show: cluster},
  {name: 'procedures', title: 'Procedures', show: procedures},
  {name: 'locks', title: 'Locks', show: locks},
  {name: 'tables', title: 'Tables', needs: 'tables', show: tables},
  {name: 'servers', title: 'Servers', needs: 'servers', show: servers},
  {name: 'timeline', title: 'Timeline', needs: 'timeline', show: timeline},
  {name: 'events', title: 'Events', show: showEvents, once: true},
  {name: 'store', title: 'Store', show: store},
  {name: 'settings', title: 'Settings', show: settings},
  {name: 'administration', title: 'Administration', needs: 'peers', show: administration},
  {name: 'procedure', under: 'procedures', show: procedure},
  {name: 'history', under: 'procedures', show: history},
  {name: 'table', under: 'tables', show: oneTable},
  {name: 'regions', under: 'tables', show: regions},
  {name: 'server', under: 'servers', show: server},
];
