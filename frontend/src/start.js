// Starting a lab without the detour of a redirect: the form asks for the page itself, and the page then takes its own
// address, so that reload, back and bookmarks work as after the redirect that browsers without scripts follow.
export function start() {
  for (const form of document.querySelectorAll("form[action$='/start']")) {
    const direct = document.createElement("input");
    Object.assign(direct, { type: "hidden", name: "direct", value: "1" });
    form.append(direct);
  }
  const address = document.querySelector("[data-address]")?.dataset.address;
  if (address && location.pathname.endsWith("/start")) history.replaceState(history.state, "", address);
}
