"""The hand on an array view: where a colour is in the picture, and what the line below it says.

Invariant: places are found in the pixels that were painted, never computed as the page computes them.
"""

from playwright.sync_api import expect

# The box around the pixels of one colour, in css pixels of the canvas.
FIND = """(canvas, colour) => {
  const { width, height } = canvas, k = width / canvas.getBoundingClientRect().width;
  const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  let [x0, y0, x1, y1, n] = [1e9, 1e9, -1, -1, 0];
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    const i = 4 * (y * width + x);
    if (colour.reduce((far, part, k) => far + Math.abs(data[i + k] - part), 0) > 6) continue;
    n += 1; x0 = Math.min(x0, x); y0 = Math.min(y0, y); x1 = Math.max(x1, x); y1 = Math.max(y1, y);
  }
  return n ? { x: x0 / k, y: y0 / k, width: (x1 + 1 - x0) / k, height: (y1 + 1 - y0) / k, pixels: n } : null;
}"""

COLOURS = """([canvas, box]) => {
  const k = canvas.width / canvas.getBoundingClientRect().width;
  const [x, y, w, h] = [box.x, box.y, box.width, box.height].map((v) => Math.round(v * k));
  const data = canvas.getContext("2d").getImageData(x, y, w, h).data, seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return [...seen];
}"""


def rgb(colour):
    """Return "#rrggbb" as three numbers."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


class View:
    """One array view: the first below a locator, or the one of that number."""

    def __init__(self, page, within=None, number=0):
        self.page = page
        self.root = (within or page).locator(".vt-card:not(.vt-strip)").nth(number)
        self.box = self.root.locator(".vt-view").first
        self.canvas = self.root.locator(".vt-view canvas").first
        self.where = self.root.locator(".vt-where")
        self.values = self.root.locator(".vt-read b")
        self.hint = self.root.locator(".vt-read .vt-hint")
        self.zoom = self.root.locator(".vt-zoomtext")
        expect(self.where).not_to_be_empty()

    def find(self, colour, canvas=None):
        """Return the box of the pixels of a colour, or None."""
        return (canvas or self.canvas).evaluate(FIND, rgb(colour))

    def shown(self, colour, canvas=None):
        """Wait until a colour is painted; return its box."""
        for _ in range(50):
            if box := self.find(colour, canvas):
                return box
            self.page.wait_for_timeout(20)
        raise AssertionError(f"{colour} is nowhere in the picture")

    def colours(self, box):
        """Return the colours inside a box."""
        handle = self.canvas.element_handle()
        return self.page.evaluate(COLOURS, [handle, box])

    def hover(self, box, canvas=None):
        """Put the pointer into the middle of a box."""
        canvas, place = canvas or self.canvas, middle(box)
        canvas.hover(position={**place, "x": place["x"] + 1})  # the first move of a page has no length
        canvas.hover(position=place)

    def click(self, box, canvas=None):
        """Click into the middle of a box."""
        (canvas or self.canvas).click(position=middle(box))

    def says(self, where, value=None):
        """Wait until the line below the picture says this index, and this value."""
        expect(self.where).to_have_text(where)
        if value is not None:
            expect(self.values.first).to_have_text(value)

    def press(self, *keys):
        """Press keys with the picture in focus."""
        self.box.focus()
        for key in keys:
            self.page.keyboard.press(key)


def middle(box):
    """Return the middle of a box."""
    return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}


BOXES = """elements => elements.map((e) => {
  const { x, y, width, height } = e.getBoundingClientRect();
  return { x, y, width, height };
})"""


def boxes(*locators):
    """Return where these elements are, all at one moment: one by one, a page that grows meanwhile shows two layouts."""
    return locators[0].page.evaluate(BOXES, [locator.element_handle() for locator in locators])


def allow_clipboard(page):
    """Let a page read and write the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])


def clipboard(page):
    """Return the text of the clipboard."""
    return page.evaluate("navigator.clipboard.readText()")
