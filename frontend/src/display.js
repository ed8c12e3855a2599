// Menus that close, colours that change at once, and instants in the reader's own zone.
export function display() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]"))
      if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = document.querySelector("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[name=theme]");
    if (!button) return;
    event.preventDefault();
    colours(button);
  });
  document.body.addEventListener("htmx:beforeSend", ({ target }) => {
    const menu = target.closest?.("details.menu[open]");
    if (menu) menu.open = false;
  });
  localTimes(document);
  document.body.addEventListener("htmx:load", (event) => localTimes(event.target));
}

function colours(button) {
  const theme = button.value;
  const forEver = 400 * 24 * 3600;
  if (theme === "device") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const life = theme === "device" ? 0 : forEver;
  document.cookie = `theme=${theme};path=/;max-age=${life};samesite=lax`;
  for (const other of button.form.querySelectorAll("button[name=theme]"))
    other.setAttribute("aria-pressed", String(other === button));
}

function localTimes(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const time of root.querySelectorAll?.("time[datetime]") ?? []) {
    time.title = time.dateTime;
    time.textContent = format.format(new Date(time.dateTime));
  }
}
