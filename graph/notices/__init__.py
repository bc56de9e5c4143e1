"""Notices of runs that wait for people, fail or end; by webhook, mail or chat (docs/notices.md)."""
