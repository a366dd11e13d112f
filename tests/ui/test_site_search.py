"""What a page of the site splits a question into: the words that its index was made of."""

import pytest

pytest.importorskip("sphinx")

from docs.making.search_words import SearchBoth


@pytest.mark.parametrize(
    "text",
    ["反向传播, loss.backward() 与numpy", "张量", "步", "a_b 3x 学习率lr2", "stride; 视图的步幅", ""],
)
def test_a_question_is_split_as_the_index_was(text, page):
    search = SearchBoth({})
    program = "([code, text]) => new Function(code + 'return splitQuery(arguments[0])')(text)"
    words = page.evaluate(program, [search.js_splitter_code, text])
    assert [word for word in words if word] == search.split(text)
