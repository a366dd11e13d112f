"""How the site is made: pages that are generated, pages that are copied, the build, and what is checked of it.

Invariant: nothing is written into the folder of the pages by hand; the sources that Sphinx reads are put together anew
in `build/docs/source` each time, so no page can be left over from a file that is gone.
"""
