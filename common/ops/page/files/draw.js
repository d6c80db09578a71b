// Drawings: steps of a procedure, key ranges, bars over time. SVG with classes only, because the policy forbids inline styles.
import {el, svg, show, durationText, timeText} from '/page/dom.js';

// Draws the step table as boxes in the order of their numbers; marks completed steps and the current one.
export function stepDiagram(steps, done, current) {
  const width = 196, height = 30, gapX = 26, gapY = 18, perRow = Math.max(1, Math.floor((Math.min(window.innerWidth, 1460) - 40) / (width + gapX)));
  const rows = Math.ceil(steps.length / perRow);
  const boxes = [], arrows = [];
  steps.forEach((step, i) => {
    const x = (i % perRow) * (width + gapX) + 2, y = Math.floor(i / perRow) * (height + gapY) + 2;
    const state = step.name === current ? 'now' : done.has(step.name) ? 'done' : '';
    boxes.push(svg('g', {'data-step': step.name, 'data-state': state},
      svg('title', {}, `${step.number} ${step.name}; undo: ${show('undo', step.undo)}${step.given ? `; given: ${step.given}` : ''}`),
      svg('rect', {x, y, width, height, rx: 6, class: `box ${state}`}),
      svg('text', {x: x + 8, y: y + 20}, step.name.length > 24 ? step.name.slice(0, 23) + '\u2026' : step.name)));
    if (i + 1 < steps.length) {
      const wraps = (i + 1) % perRow === 0;
      arrows.push(svg('path', {class: 'arrow', d: wraps
        ? `M${x + width / 2} ${y + height} v${gapY / 2} H${2 + width / 2} v${gapY / 2}`
        : `M${x + width} ${y + height / 2} h${gapX} m-5 -4 l5 4 l-5 4`}));
    }
  });
  const across = Math.min(perRow, steps.length) * (width + gapX), down = rows * (height + gapY);
  return svg('svg', {width: across, height: down, viewBox: `0 0 ${across} ${down}`, role: 'img', 'aria-label': 'steps of the procedure'}, arrows, boxes);
}

// Draws a strip with one part for each region, in the order of keys.
export function keyStrip(regions) {
  const width = 1000, height = 26, each = width / Math.max(1, regions.length);
  return svg('svg', {class: 'wide', viewBox: `0 0 ${width} ${height}`, height, role: 'img', preserveAspectRatio: 'none', 'aria-label': 'regions by key'},
    regions.map((region, i) => svg('rect', {class: `strip ${region.state}`, x: i * each, y: 0, width: Math.max(each - 0.5, 0.5), height},
      svg('title', {}, `[${region.start}, ${region.end}) ${region.state} ${show('server', region.server)}`))));
}

const kPhases = [
  ['fence', ['START', 'FENCE']], ['seal', ['SEAL']], ['split', ['SPLIT_META_LOG', 'SPLIT_LOG', 'GET_REGIONS']],
  ['assign', ['ASSIGN_META', 'ASSIGN_REGIONS']], ['retire', ['CLAIM_REPLICATION_QUEUES', 'RETIRE_LOGS', 'FINISH']]];
// Draws a number as a bar next to its text; `most` is the value of the longest bar.
export function sizeBar(value, most, text) {
  if (value === null || value === undefined) return '-';
  const width = 80, length = most > 0 ? Math.max(1, width * value / most) : 1;
  return el('span', {class: 'size'}, svg('svg', {width, height: 10, viewBox: `0 0 ${width} 10`, role: 'presentation'},
    svg('rect', {class: 'track', width, height: 10, rx: 2}), svg('rect', {class: 'p3', width: length, height: 10, rx: 2})), ` ${text}`);
}

const phaseOf = step => Math.max(0, kPhases.findIndex(([, steps]) => steps.includes(step)));

export function phaseLegend() {
  return el('div', {class: 'legend'}, kPhases.map(([name], i) => el('span', {},
    svg('svg', {width: 12, height: 12}, svg('rect', {class: `p${i}`, width: 12, height: 12})), ` ${name}`)));
}

// Draws bars of consecutive steps: [{step, began_ms, ended_ms}]; each lasts until the next one begins.
export function stepBars(steps, classOf = step => `p${phaseOf(step.step)}`) {
  if (steps.length === 0) return el('p', {class: 'quiet'}, 'No step yet.');
  const first = steps[0].began_ms, last = Math.max(first + 1, ...steps.map(step => step.ended_ms));
  const width = 760, row = 20, label = 190, scale = (width - label - 90) / (last - first);
  const bars = steps.map((step, i) => {
    const end = i + 1 < steps.length ? Math.max(step.ended_ms, steps[i + 1].began_ms) : step.ended_ms;
    const x = label + (step.began_ms - first) * scale, length = Math.max(1.5, (end - step.began_ms) * scale);
    return svg('g', {}, svg('title', {}, `${step.step}: ${timeText(step.began_ms)}`),
      svg('text', {x: 0, y: i * row + 14}, step.step),
      svg('rect', {class: classOf(step), x, y: i * row + 4, width: length, height: 12, rx: 2}),
      svg('text', {x: x + length + 5, y: i * row + 14}, durationText(end - step.began_ms)));
  });
  const height = steps.length * row + 4;
  return svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'duration of each step'}, bars);
}
