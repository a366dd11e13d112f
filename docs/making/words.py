"""What the pages of notebooks say themselves, in each language of the site.

Invariant: each language has every entry.
"""

AS_TEXT = {"en": "as text", "zh": "文字形式"}
OUTPUT = {"en": "output", "zh": "输出"}
FROM_A_NOTEBOOK = {
    "en": "This page is the notebook `notebooks/{name}` as it was last run; `vistorch lab` opens your own copy of it, "
    "in which the kernel answers, too.",
    "zh": "这一页就是笔记本 `notebooks/{name}` 最近一次运行的样子；`vistorch lab --language zh` 会打开你自己的一份，"
    "在那里内核也会回应你。",
}
READ_ON = {"en": "Read on:", "zh": "继续阅读："}
TUTORIALS = {"en": "Tutorials", "zh": "教程"}
OF_TUTORIALS = {
    "en": "They are notebooks whose outputs are tests. Read them here; `vistorch lab` (or `make lab` in a clone) opens "
    "your own copies, to run and to change.",
    "zh": "它们都是笔记本，其中的输出也是测试。可以在这里读；`vistorch lab --language zh` 会打开你自己的一份，"
    "可以运行，也可以修改。",
}
