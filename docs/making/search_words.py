"""The words that the site's search knows: English ones as Sphinx finds them, and pairs of Chinese characters.

Chinese puts no spaces between its words. A run of characters counts as its pairs, in the index as in what is asked for.
Invariant: Python's split and the page's are the same.
"""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

_RUNS = re.compile(r"[\u3400-\u9fff]+|[^\u3400-\u9fff]+")


class SearchBoth(SearchEnglish):
    """English and Chinese in one index."""

    # Without quotes, ampersands and signs of comparison, which a template would escape.
    js_splitter_code = r"""
var splitQuery = function (query) {
  const runs = /[\u3400-\u9fff]+|[^\u3400-\u9fff]+/gu;
  return query.split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/gu).flatMap(function (word) {
    return (word.match(runs) || []).flatMap(function (run) {
      if (!/[\u3400-\u9fff]{2}/u.test(run)) return [run];
      return Array.from(run.slice(1)).map(function (second, at) { return run[at] + second; });
    });
  });
};
"""

    def split(self, input: str) -> list[str]:
        """Return the words of a text.

        Args:
            input: the text.
        """
        return [one for word in super().split(input) for run in _RUNS.findall(word) for one in pairs(run)]


def pairs(run: str) -> list[str]:
    """Return a run of Chinese characters as its pairs; anything else, or one character, as it is.

    Args:
        run: characters that are all Chinese, or none of them.
    """
    if len(run) < 2 or not "\u3400" <= run[0] <= "\u9fff":
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]
