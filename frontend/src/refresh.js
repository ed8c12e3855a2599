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
    htmx.ajax("GET", source.dataset.refreshUrl, { source, target: source, swap: "morph", headers }).catch(later);
  }

  // Unreachable or refused: the picture stays as it is, and is asked for again later.
  function later() {
    clearTimeout(timer);
    timer = setTimeout(fetch, 15_000);
  }

  const isQuiet = (detail) => Boolean(detail.requestConfig.headers["X-Quiet"]);
  document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (!isQuiet(detail) || detail.xhr.status < 400) return;
    detail.shouldSwap = false;
    later();
  });
  // An answer brings its own picture; an older one that is still on its way must not replace it.
  document.body.addEventListener("htmx:beforeSend", ({ detail }) => {
    const source = document.getElementById("cluster");
    if (source && !isQuiet(detail)) htmx.trigger(source, "htmx:abort");
  });

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) plan();
  });
  document.body.addEventListener("htmx:afterSettle", plan);
  plan();
}
