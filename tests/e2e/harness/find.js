// Finds the first visible element by what a screen reader would say. arguments: scope (element or null), CSS selector or
// null, role or null, accessible name or null.
const [scope, css, role, label] = arguments;
const spaced = (text) => (text ?? '').replace(/\s+/g, ' ').trim();

const textRoles = { search: 'searchbox', number: 'spinbutton', checkbox: 'checkbox', radio: 'radio', range: 'slider' };
const byTag = {
  A: 'link', BUTTON: 'button', SUMMARY: 'button', TEXTAREA: 'textbox', SELECT: 'combobox', OPTION: 'option', DIALOG: 'dialog',
  H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', UL: 'list', OL: 'list', LI: 'listitem', NAV: 'navigation',
  MAIN: 'main', ASIDE: 'complementary', FORM: 'form', TABLE: 'table', PROGRESS: 'progressbar', ARTICLE: 'article',
};

function roleOf(element) {
  const own = element.getAttribute('role');
  if (own) return own.split(' ')[0];
  if (element.tagName === 'INPUT') {
    const type = element.type;
    if (['button', 'submit', 'reset'].includes(type)) return 'button';
    return textRoles[type] ?? 'textbox';
  }
  return element.isContentEditable && !element.parentElement?.isContentEditable ? 'textbox' : byTag[element.tagName] ?? '';
}

function contentOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent;
  if (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute('aria-hidden') === 'true') return '';
  return node.getAttribute('aria-label') ?? node.getAttribute('alt') ?? [...node.childNodes].map(contentOf).join(' ');
}

function nameOf(element) {
  const ids = element.getAttribute('aria-labelledby');
  if (ids) return spaced(ids.split(/\s+/).map((id) => document.getElementById(id)?.textContent).join(' '));
  const direct = element.getAttribute('aria-label');
  if (direct) return spaced(direct);
  if (element.labels?.length) return spaced([...element.labels].map(contentOf).join(' '));
  if (['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)) {
    return spaced(element.placeholder || element.title || (roleOf(element) === 'button' ? element.value : ''));
  }
  return spaced([...element.childNodes].map(contentOf).join(' ')) || spaced(element.title);
}

function isVisible(element) {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true });
}

const candidates = [...(scope ?? document).querySelectorAll(css ?? '*')].filter((element) => {
  if (role !== null && roleOf(element) !== role) return false;
  if (role === null && label !== null && roleOf(element) === '' && !element.hasAttribute('aria-label')) return false;
  return isVisible(element);
});
if (label === null) return candidates[0] ?? null;
// A name may go on with the key that does the same: "Approve Y".
const exact = candidates.find((element) => nameOf(element) === spaced(label));
return exact ?? candidates.find((element) => nameOf(element).startsWith(`${spaced(label)} `)) ?? null;
