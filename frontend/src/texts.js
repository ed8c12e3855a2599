// Sentences come from the page, in its language.
const source = document.getElementById("texts");
export const texts = source ? JSON.parse(source.textContent) : {};

export function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // Storage is switched off: the page works, and remembers nothing.
  }
}

export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Full or switched off: what is typed still stands in the page.
  }
}
