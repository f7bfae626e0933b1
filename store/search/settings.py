"""What a person has set about searching."""

from store.config.configuration import Config
from store.search.query import access_scope

# the numbers of the first sketch
SEED = {"vectorWeight": 0.7, "textWeight": 0.3, "candidateMultiplier": 4, "halfLifeDays": 30, "lambda": 0.7}


class Settings:
    """How signals are weighed: as measured (`plain` false: the numbers below are not used), or `plain`ly by numbers,
    those of `SEED` or the person's own."""

    __slots__ = (
        *("_default", "_rules", "diversity", "half_life", "multiplier", "plain"),
        *("text_weight", "vector_weight"),
    )

    def __init__(self, config: Config) -> None:
        chosen = config["search.setting"]
        numbers = SEED if chosen == "seed" else {name: config[f"search.{name}"] for name in SEED}
        self.plain = chosen != "measured"
        self.vector_weight = float(numbers["vectorWeight"])
        self.text_weight = float(numbers["textWeight"])
        self.multiplier = int(numbers["candidateMultiplier"])
        self.half_life = int(numbers["halfLifeDays"])
        self.diversity = float(numbers["lambda"])
        self._rules = tuple(config["search.scopeRules"])
        self._default = str(config["search.scope"])

    def denied(self, session: str) -> str:
        """Why this session may not search, or an empty text; see `scope.denied`."""
        return access_scope.denied(session, self._rules, self._default)
