// The live events: server-sent events, which continue at the next master. The browser reconnects by itself.
import {el, pidLink, timeText, toneOf} from '/page/dom.js';

const kMostRows = 1000;

export async function showEvents(context) {
  context.command = 'ratchet events --follow';
  const {data: status} = await context.ask('master').catch(() => context.ask('cluster'));
  const rows = el('tbody', {id: 'events'});
  const following = el('span', {class: 'quiet', id: 'following'}, 'connecting \u2026');
  const hold = el('input', {type: 'checkbox', id: 'hold'});
  const filter = el('input', {type: 'search', id: 'filter', placeholder: 'filter', 'aria-label': 'filter'});
  const held = [];

  const fits = row => filter.value.toLowerCase().split(/\s+/).filter(Boolean).every(word => row.textContent.toLowerCase().includes(word));
  const put = row => {
    row.hidden = !fits(row);
    rows.prepend(row);
    while (rows.childElementCount > kMostRows) rows.lastChild.remove();
  };
  const add = row => { if (hold.checked) { held.push(row); if (held.length > kMostRows) held.shift(); } else put(row); };
  hold.addEventListener('change', () => { if (!hold.checked) held.splice(0).forEach(put); });
  filter.addEventListener('input', () => { for (const row of rows.children) row.hidden = !fits(row); });

  const source = new EventSource('/api/v1/events/stream');
  source.addEventListener('open', () => { following.textContent = 'following'; following.className = 'good'; });
  source.addEventListener('error', () => { following.textContent = 'no connection; retrying'; following.className = 'bad'; });
  source.addEventListener('activity', message => {
    const event = JSON.parse(message.data);
    add(el('tr', {'data-event': event.no}, el('td', {class: 'number'}, event.no), el('td', {}, timeText(event.at_ms)), el('td', {class: toneOf(event.event)}, event.event),
      el('td', {class: 'number'}, pidLink(event.pid)), el('td', {}, event.type), el('td', {}, event.step), el('td', {}, event.detail)));
  });
  const line = text => add(el('tr', {class: 'busy'}, el('td', {colspan: 7}, text)));
  source.addEventListener('master', message => line(`another master: epoch ${JSON.parse(message.data).epoch}, its events from the beginning`));
  source.addEventListener('lost', message => line(`${JSON.parse(message.data).events} events were lost: this reader is too slow`));
  context.onStop(() => source.close());

  return [el('h1', {}, 'Events ', el('span', {class: 'quiet'}, status.epoch ? `epoch ${status.epoch}` : '')),
    el('div', {class: 'bar'}, filter, el('label', {}, hold, ' hold'), following),
    el('div', {class: 'scroll'}, el('table', {},
      el('thead', {}, el('tr', {}, ['no', 'time', 'event', 'pid', 'type', 'step', 'detail'].map(name => el('th', {scope: 'col', class: ['no', 'pid'].includes(name) ? 'number' : null}, name)))), rows))];
}
