"""The nine chapters of the course, in its order. An exercise names the one it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Chapter:
    """A chapter: its id in files and addresses, its number from 1, its title in each language."""

    id: str
    number: int
    titles: Mapping[str, str]

    def title(self, language: str) -> str:
        """The title in that language, in English where it lacks."""
        return self.titles.get(language) or self.titles["en"]


_TITLES = (
    ("manual-scheduling", "Manual scheduling", "수동 스케줄링"),
    ("labels-and-selectors", "Labels and selectors", "레이블과 셀렉터"),
    ("taints-and-tolerations", "Taints and tolerations", "테인트와 톨러레이션"),
    ("node-affinity", "Node selectors and node affinity", "노드 셀렉터와 노드 어피니티"),
    ("resources", "Requests and limits", "리소스 요청과 제한"),
    ("daemonsets", "DaemonSets", "데몬셋"),
    ("static-pods", "Static pods", "스태틱 파드"),
    ("multiple-schedulers", "Multiple schedulers", "다중 스케줄러"),
    ("scheduler-profiles", "Scheduler profiles", "스케줄러 프로파일"),
)

CHAPTERS: tuple[Chapter, ...] = tuple(
    Chapter(name, number, MappingProxyType({"en": english, "ko": korean}))
    for number, (name, english, korean) in enumerate(_TITLES, start=1)
)
BY_ID: Mapping[str, Chapter] = MappingProxyType({chapter.id: chapter for chapter in CHAPTERS})
