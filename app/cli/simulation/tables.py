"""An account as text: nodes and plugins, scores, ties, preemption, what would change the decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery import clock
from app.cli.simulation.account import Account
from app.cli.simulation.lines import Line, blocks, paragraph

SHOWN_NODES = 10
_SHOWN_VICTIMS = 5
_WORDS = {"feasible": "fits", "rejected": "rejected", "excluded": "excluded", "notTried": "not tried"}
_REPORTED, _FAILS, _PASSES = "FAIL *", "fail", "ok"


def attempt(account: Account, *, all_nodes: bool = False) -> list[Line]:
    """One decision. At most ten nodes are shown, unless all are asked for; the rest is counted."""
    lines = [_title(account)]
    if account["result"] != "scheduled":
        lines += paragraph(account["message"], "  ", style="bad")
    kept = account["nominatedNodeNameBefore"]
    if kept:
        lines += paragraph(f"{kept} is kept for this pod since an earlier attempt, so it is tried first.", "  ")
    if account["preFilter"] is not None:
        lines += _pre_filter(account)
    shown_all = all_nodes or len(account["nodes"]) <= SHOWN_NODES
    for section in (
        _filters(account) if shown_all else _summary(account),
        _reasons(account) if shown_all else [],
        _scores(account, None if shown_all else SHOWN_NODES),
        _preemption(account, None if shown_all else SHOWN_NODES),
        _changes(account),
    ):
        if section:
            lines += [Line(""), *section]
    return lines


def _title(account: Account) -> Line:
    profile = "" if account["profile"] == "default-scheduler" else f" (by {account['profile']})"
    if account["result"] == "scheduled":
        return Line(f"{account['pod']}: scheduled on {account['node']}{profile}", "title")
    if account.get("nominatedNode"):
        return Line(f"{account['pod']}: preempts pods on {account['nominatedNode']} and waits for it{profile}", "title")
    return Line(f"{account['pod']}: not scheduled{profile}", "title")


def _pre_filter(account: Account) -> list[Line]:
    """What PreFilter said: it turned the pod down, or left only some nodes."""
    found = account["preFilter"]
    if found.get("reasons"):
        return paragraph("PreFilter turns the pod down before any node is looked at.", "  ", style="dim")
    nodes = ", ".join(found["nodes"][:SHOWN_NODES]) or "none"
    return paragraph(f"PreFilter of {', '.join(found['plugins'])} leaves only these nodes: {nodes}", "  ")


def _filters(account: Account) -> list[Line]:
    """Plugins by nodes: rows are the plugins that turn some node down."""
    nodes: Mapping[str, Any] = account["nodes"]
    if not nodes or (account["preFilter"] or {}).get("reasons"):
        return []
    failing = [name for name in account["filterPlugins"] if any(name in node["filters"] for node in nodes.values())]
    rows = [(plugin, [_mark(plugin, node) for node in nodes.values()]) for plugin in failing]
    rows.append(("outcome", [_WORDS[node["status"]] for node in nodes.values()]))
    passing = [name for name in account["filterPlugins"] if name not in failing]
    lines = _joined(blocks(list(nodes), rows, "FILTER"))
    if failing:
        lines += paragraph(
            "* is what the scheduler reports of a node: the first filter that turns it down.", style="dim"
        )
    if passing:
        lines += paragraph(f"{', '.join(passing)}.", "ok on every node: ", "  ", style="dim")
    return lines


def _mark(plugin: str, node: Mapping[str, Any]) -> str:
    if plugin not in node["filters"]:
        return _PASSES
    return _REPORTED if node["reported"] == plugin else _FAILS


def _joined(found: Sequence[Sequence[Line]]) -> list[Line]:
    lines: list[Line] = []
    for block in found:
        lines += [Line("")] if lines else []
        lines += block
    return lines


def _reasons(account: Account) -> list[Line]:
    """A sentence for each reason of each node."""
    lines: list[Line] = []
    if (account["preFilter"] or {}).get("reasons"):
        return lines
    for name, node in account["nodes"].items():
        if not node["facts"]:
            continue
        lines.append(Line(f"{name}:"))
        for fact in node["facts"]:
            star = "*" if fact["plugin"] == node["reported"] else " "
            lines += paragraph(f"{fact['plugin']}: {fact['message']}", f"  {star} ")
    return [Line("WHY NOT", "heading"), *lines] if lines else []


def _summary(account: Account) -> list[Line]:
    """For many nodes: how many come out how, and how often each reason is found."""
    nodes = account["nodes"].values()
    outcomes = Counter(_WORDS[node["status"]] for node in nodes)
    lines = [
        Line(f"{len(nodes)} NODES", "heading"),
        Line(", ".join(f"{count} {word}" for word, count in outcomes.items())),
    ]
    if outcomes["not tried"]:
        lines += paragraph(
            "Nodes that are not tried are left out because enough others fit (percentageOfNodesToScore).", style="dim"
        )
    found: Counter[tuple[str, str]] = Counter()
    reported: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        for plugin, status in node["filters"].items():
            for reason in status["reasons"]:
                found[plugin, reason] += 1
                reported[plugin, reason] += node["reported"] == plugin
    for (plugin, reason), count in found.most_common(SHOWN_NODES):
        lines += paragraph(f"{plugin}: {reason} ({reported[plugin, reason]} reported)", f"{count:>6} ")
    if len(found) > SHOWN_NODES:
        lines.append(Line(f"       and {len(found) - SHOWN_NODES} other reasons"))
    return lines


def _scores(account: Account, most: int | None) -> list[Line]:
    """Raw, normalised and weighted scores of the best nodes, their totals, and how the choice was made."""
    totals: Mapping[str, int] = account["totals"]
    if not totals:
        if account["result"] == "scheduled":
            return paragraph(f"{account['node']} is the only node that was found to fit, so nothing is scored.")
        return []
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    names = ranked[:most]
    rows = [
        (f"{score['plugin']} x{score['weight']}", [_cell(score, name) for name in names]) for score in account["scores"]
    ]
    rows.append(("total", [str(totals[name]) for name in names]))
    lines = _joined(blocks(names, rows, "SCORE"))
    lines += paragraph("raw > normalised (0 to 100) > times weight", style="dim")
    if len(names) < len(ranked):
        lines += paragraph(f"The best {len(names)} of {len(ranked)} nodes; --all-nodes shows all.", style="dim")
    return [*lines, *_choice(account)]


def _cell(score: Mapping[str, Any], node: str) -> str:
    return f"{score['raw'][node]} > {score['normalized'][node]} > {score['weighted'][node]}"


def _choice(account: Account) -> list[Line]:
    best = account["best"]
    if not account["tieBreak"]:
        return [Line(f"Best: {best[0]}")]
    some = ", ".join(best[:SHOWN_NODES]) + (f" and {len(best) - SHOWN_NODES} more" if len(best) > SHOWN_NODES else "")
    return paragraph(
        f"Best: {some}, with the same total. A real scheduler may take any of them; here the smallest name is taken.",
    )


def _preemption(account: Account, most: int | None) -> list[Line]:
    """The candidates with their columns, in the order in which these decide."""
    found = account["postFilter"]
    if not found or not found.get("candidates"):
        return []
    columns = {
        "pdbViolations": "budgets broken",
        "highestPriority": "highest priority",
        "sumOfPriorities": "sum of priorities",
        "victims": "number of victims",
        "latestStart": "start of the longest running",
    }
    candidates: Mapping[str, Any] = found["candidates"]
    ranked = sorted(candidates, key=lambda name: [-value for value in candidates[name]["ranking"].values()])
    names = ranked[:most]
    rows = [(label, [_column(candidates[name]["ranking"], key) for name in names]) for key, label in columns.items()]
    lines = _joined(blocks(names, rows, "PREEMPTION"))
    for name in names:
        victims = candidates[name]["victims"]
        more = f" and {len(victims) - _SHOWN_VICTIMS} more" if len(victims) > _SHOWN_VICTIMS else ""
        lines += paragraph(f"{', '.join(victims[:_SHOWN_VICTIMS])}{more}", f"{name} would lose ")
    tied = found["best"]
    lines += paragraph(
        f"Chosen: {found['nominatedNode']}"
        + (f" (as good: {', '.join(tied)}; the smallest name is taken)" if len(tied) > 1 else "")
    )
    return lines


def _column(ranking: Mapping[str, int], key: str) -> str:
    """The columns hold larger numbers for better candidates; people want to see what is counted."""
    value = ranking[key]
    if key == "latestStart":
        return clock.rfc3339(value) if value < 2**60 else "has not started"
    if key == "sumOfPriorities":
        return str(-value - 2**31 * -ranking["victims"])
    return str(-value)


def _changes(account: Account) -> list[Line]:
    """What would bring the pod to each of the nodes that were asked."""
    asked: Mapping[str, Any] = account["changes"]
    if not asked:
        return []
    won = account["result"] == "scheduled"
    lines = [Line("WHAT WOULD CHANGE IT", "heading")]
    for name, changes in asked.items():
        goal = f"for {name} to be chosen:" if won else f"for {name} to take the pod:"
        if not changes:
            lines += paragraph(f"{goal} no small change of the pod or of this node was found to do it.")
            continue
        lines.append(Line(goal))
        for number, change in enumerate(changes):
            text = " And: ".join(edit["message"] for edit in change["edits"])
            tie = " (it is then one of the best)" if change["outcome"] == "ties" else ""
            lines += paragraph(f"{text}{tie}", "  or  " if number else "      ")
    return lines


def fates(found: Sequence[Account], evicted: Mapping[str, str], most: int | None) -> Iterator[Line]:
    """The end: a line a pod, those without a node first; at most so many of each."""
    scheduled = [fate for fate in found if fate["result"] == "scheduled"]
    others = [fate for fate in found if fate["result"] != "scheduled"]
    yield Line(f"{len(scheduled)} of {len(found)} pods scheduled", "title")
    for group in (others, scheduled):
        for fate in group[:most]:
            yield from paragraph(_fate(fate), "  ", "      ", style="good" if group is scheduled else "bad")
        if most is not None and len(group) > most:
            yield Line(f"  and {len(group) - most} more; --all-pods shows all", "dim")
    others_gone = [(pod, cause) for pod, cause in evicted.items() if pod not in {fate["pod"] for fate in found}]
    for pod, cause in others_gone[:most]:
        yield Line(f"  {pod}: has to go for {cause}", "bad")
    if most is not None and len(others_gone) > most:
        yield Line(f"  and {len(others_gone) - most} more have to go; --all-pods shows all", "dim")


def _fate(fate: Account) -> str:
    match fate["result"]:
        case "scheduled":
            return f"{fate['pod']}: on {fate['node']}"
        case "evicted":
            return f"{fate['pod']}: has to go for {fate['preemptor']}"
        case "notTried":
            return f"{fate['pod']}: not tried. {' '.join(fate['reasons'])}"
    return f"{fate['pod']}: {fate['message']}"
