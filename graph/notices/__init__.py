"""People hear of runs: when one waits for them, fails or ends; by webhook, mail, chat (docs/notices.md)."""
