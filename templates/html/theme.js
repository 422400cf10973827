// The reader's choice of theme is kept where there is storage, and forgotten where there is none.
const theme = () => {
  const button = document.getElementById('theme');
  const root = document.documentElement;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const stored = (() => {
    try { return localStorage.getItem('skewlab-theme'); } catch { return null; }
  })();
  if (stored === 'dark' || stored === 'light') root.dataset.theme = stored;
  const now = () => root.dataset.theme ?? (dark.matches ? 'dark' : 'light');
  const show = () => { button.textContent = now() === 'dark' ? 'Light theme' : 'Dark theme'; };
  button.addEventListener('click', () => {
    root.dataset.theme = now() === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('skewlab-theme', root.dataset.theme); } catch { /* chosen for this visit only */ }
    show();
  });
  dark.addEventListener('change', show);
  show();
  button.hidden = false;
};
