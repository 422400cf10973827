// What is chosen lies in the fragment of the address, so that a link shows the same cells.
const chosen = { server: '', client: '', verdict: '', text: '' };
const hay = [];
const words = (cell, number) => {
  hay[number] ??= [cell.id, cell.note ?? '', cell.outcome, JSON.stringify(of(cell, 'findings') ?? []),
    JSON.stringify(of(cell, 'surfaced') ?? '')].join(' ').toLowerCase();
  return hay[number];
};
const matches = (cell, number) =>
  (!chosen.server || cell.server === chosen.server)
  && (!chosen.client || cell.clients.includes(chosen.client))
  && (!chosen.verdict || (chosen.verdict === '!' ? cell.outcome !== 'as expected' : cell.verdict === chosen.verdict))
  && chosen.text.toLowerCase().split(/\s+/).every((word) => words(cell, number).includes(word));

const sieve = (grid, kept) => {
  const columns = [];
  let any = false;
  for (const line of grid.tBodies[0].rows) {
    let some = false;
    for (const place of line.cells) {
      const link = place.querySelector('a[data-c]');
      if (!link) continue;
      const stays = kept[Number(link.dataset.c)];
      link.classList.toggle('off', !stays);
      if (stays) {
        some = true;
        columns[place.cellIndex] = true;
      }
    }
    line.hidden = !some;
    any = any || some;
  }
  for (const line of grid.rows) {
    for (const place of line.cells) place.hidden = place.cellIndex > 0 && !columns[place.cellIndex];
  }
  grid.closest('.grid').hidden = !any;
  if (any) reseat(grid);
  return any;
};

let kept = cells.map(() => true);
const apply = () => {
  kept = cells.map(matches);
  for (const scenario of all('.scenario')) {
    let any = false;
    for (const grid of all('table.heat', scenario)) any = sieve(grid, kept) || any;
    scenario.hidden = !any;
  }
  for (const row of all('tr[data-cells]')) row.hidden = !row.dataset.cells.split(' ').some((number) => kept[Number(number)]);
  const count = kept.filter(Boolean).length;
  document.getElementById('count').textContent = `${count} of ${cells.length} cells`;
};

const address = (open) => {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(chosen)) if (value) said.set(name, value);
  if (open !== undefined) {
    said.set('cell', cells[open].id);
    if (data.runs.length > 1) said.set('run', String(cells[open].run + 1));
  }
  const fragment = said.toString();
  try {
    history.replaceState(null, '', fragment ? `#${fragment}` : location.pathname + location.search);
  } catch { /* a page in a frame of somebody else's may have no address of its own */ }
};

// The number of the cell that the address asks for.
const asked = () => {
  const fragment = location.hash.slice(1);
  const number = /^c(\d+)$/.exec(fragment);
  if (number) return Number(number[1]) < cells.length ? Number(number[1]) : undefined;
  if (!fragment.includes('=')) return undefined;
  const said = new URLSearchParams(fragment);
  for (const name of Object.keys(chosen)) chosen[name] = said.get(name) ?? '';
  const run = Number(said.get('run') ?? 1) - 1;
  const found = cells.findIndex((cell) => cell.run === run && cell.id === said.get('cell'));
  return found < 0 ? undefined : found;
};

const filters = () => {
  const template = document.getElementById('filters');
  const place = document.querySelector('.filter-place');
  if (!template || !place) return;
  place.append(template.content.cloneNode(true));
  const form = place.querySelector('form');
  const show = () => {
    for (const name of Object.keys(chosen)) {
      form.elements[name].value = chosen[name];
      // What nobody offers is chosen by nobody.
      if (form.elements[name].value !== chosen[name]) chosen[name] = form.elements[name].value = '';
    }
    apply();
  };
  const heard = () => {
    for (const name of Object.keys(chosen)) chosen[name] = form.elements[name].value;
    apply();
    address();
  };
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', heard);
  form.addEventListener('reset', () => setTimeout(heard));
  const arrive = () => {
    const open = asked();
    show();
    if (open !== undefined) detail.open(open);
  };
  addEventListener('hashchange', arrive);
  arrive();
};
