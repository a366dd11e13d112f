"""Faulty programs, their repaired counterparts and healthy ones that look suspicious: what the rules say of each."""
