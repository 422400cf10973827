// One cell of a grid can be reached by Tab, the others by arrow keys from it.
const usable = (link) => link && !link.classList.contains('off') && !link.closest('[hidden]');
const gridOf = (link) => link.closest('table.heat');
const seat = (grid, link) => {
  for (const other of all('a[data-c][tabindex="0"]', grid)) other.tabIndex = -1;
  if (link) link.tabIndex = 0;
};
const reseat = (grid) => {
  const now = grid.querySelector('a[data-c][tabindex="0"]');
  if (!usable(now)) seat(grid, all('a[data-c]', grid).find(usable));
};
const linkAt = (grid, row, column) => {
  const line = grid.tBodies[0].rows[row];
  const place = line && line.cells[column];
  return place && place.querySelector('a[data-c]');
};
const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const next = (grid, link, key) => {
  const place = link.closest('td');
  const line = place.parentElement;
  if (key === 'Home' || key === 'End') {
    const row = all('a[data-c]', line).filter(usable);
    return key === 'Home' ? row[0] : row[row.length - 1];
  }
  const [down, right] = moves[key];
  let row = line.sectionRowIndex + down;
  let column = place.cellIndex + right;
  while (row >= 0 && column > 0 && row < grid.tBodies[0].rows.length && column < line.cells.length) {
    const found = linkAt(grid, row, column);
    if (usable(found)) return found;
    row += down;
    column += right;
  }
  return undefined;
};
const grids = () => {
  for (const grid of all('table.heat')) {
    grid.setAttribute('role', 'grid');
    for (const link of all('a[data-c]', grid)) link.tabIndex = -1;
    reseat(grid);
  }
  document.addEventListener('keydown', (event) => {
    const link = event.target instanceof Element && event.target.closest('table.heat a[data-c]');
    if (!link || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === ' ') {
      event.preventDefault();
      link.click();
    }
    if (!(event.key in moves) && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    const to = next(gridOf(link), link, event.key);
    if (to) {
      seat(gridOf(link), to);
      to.focus();
    }
  });
  const peek = document.getElementById('peek');
  const look = (event) => {
    const link = event.target instanceof Element && event.target.closest('table.heat a[data-c]');
    const cell = link && cells[Number(link.dataset.c)];
    const found = cell && (of(cell, 'findings') ?? [])[0];
    peek.textContent = cell ? `${link.getAttribute('aria-label')}${found ? `. ${found[6]}` : ''}` : '';
  };
  for (const kind of ['mouseover', 'focusin']) document.addEventListener(kind, look);
};
