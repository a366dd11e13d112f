"""What a campaign found: how often it tried, and each try that failed."""

from dataclasses import dataclass, field


@dataclass
class Result:
    """Tries and failures of one campaign; `notes` are numbers worth a look that are no failures."""

    tries: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, wrong: str) -> None:
        """Count one try; a text that is not empty says what was wrong with it."""
        self.tries += 1
        if wrong:
            self.failures.append(wrong)
