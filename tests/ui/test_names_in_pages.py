"""Names that are markup or script, in every view: none runs, none becomes an element."""

from tests.campaigns import pages


def test_no_name_is_markup(browser):
    result = pages.names(2, 0, browser)
    assert result.tries > 10 and not result.failures, result.failures
