"""Shapes, views, joining and splitting, copies and conversions."""
