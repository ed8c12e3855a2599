// The cluster lives on: the server says in how many seconds something happens next, and the picture is fetched then.
export function refresh(htmx) {
  let timer;

  function plan() {
    clearTimeout(timer);
    const source = document.querySelector("[data-refresh-in]");
    if (source) timer = setTimeout(fetch, Number(source.dataset.refreshIn) * 1000);
  }

  function fetch() {
    const source = document.querySelector("[data-refresh-in]");
    if (!source || document.hidden) return;
    const headers = { "X-Quiet": "1" };
    htmx.ajax("GET", source.dataset.refreshUrl, { target: source, swap: "morph", headers }).catch(() => {
      timer = setTimeout(fetch, 15_000); // Unreachable: the picture stays, and is tried again later.
    });
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) plan();
  });
  document.body.addEventListener("htmx:afterSettle", plan);
  plan();
}
