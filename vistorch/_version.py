"""The version of the package. It is written here and nowhere else; the build reads this file."""

__version__ = "0.1.0.dev0"
