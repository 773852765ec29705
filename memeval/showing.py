"""Showing a result: one mixin gives it words for a terminal and a card for a notebook."""

from __future__ import annotations


class Shown:
    """A result that shows itself as `memeval.report.cards` tells it, in text and in HTML."""

    __slots__ = ()

    def __repr__(self) -> str:
        from memeval.report.cards import card_text

        return card_text(self)

    def _repr_html_(self) -> str:
        from memeval.report.cards import card_html

        return card_html(self)


class ShownInNotebooks:
    """A result that has its own words for a terminal, and a card for a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from memeval.report.cards import card_html

        return card_html(self)
