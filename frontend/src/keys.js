// Keys of the workplace. `?` lists them wherever no text is being typed.
export function keys() {
  const list = document.getElementById("keys");
  document.querySelector("[data-open-keys]")?.addEventListener("click", () => list.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const command = event.ctrlKey || event.metaKey;
    if (command && !event.altKey && event.key === "Enter") press(event, "[data-key=check]");
    else if (command && !event.altKey && event.key.toLowerCase() === "s") press(event, "[data-key=apply]");
    else if (event.altKey && !command && /^[1-3]$/.test(event.key)) pane(event);
    else if (event.key === "?" && !typing(event.target) && !list.open) {
      event.preventDefault();
      list.showModal();
    }
  });
}

function press(event, selector) {
  const button = document.querySelector(selector);
  if (!button) return;
  event.preventDefault();
  if (button.getAttribute("aria-disabled") !== "true") button.click();
}

function pane(event) {
  const target = document.querySelector(`[data-pane-number="${event.key}"]`);
  if (!target) return;
  event.preventDefault();
  target.dispatchEvent(new CustomEvent("lab:pane", { bubbles: true }));
  (target.querySelector(".cm-content") ?? target.querySelector("textarea") ?? target).focus();
}

function typing(element) {
  return element.matches?.("input, textarea, select, [contenteditable], [contenteditable] *") ?? false;
}
