theme();
grids();
for (const pre of all('pre.code')) copyable(pre);
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element && event.target.closest('a[data-c], a[data-open]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  const group = link.closest('[data-cells]');
  if (link.dataset.open !== undefined) {
    detail.open(Number(link.dataset.open), group ? group.dataset.cells.split(' ').map(Number) : undefined);
    return;
  }
  seat(gridOf(link), link);
  detail.list = [];
  detail.open(Number(link.dataset.c));
});
const dialog = document.getElementById('detail');
dialog.addEventListener('close', () => address());
// A click beside the detail closes it.
dialog.addEventListener('click', (event) => {
  if (event.target === dialog && event.clientX < dialog.getBoundingClientRect().left) dialog.close();
});
filters();
