"""The settings of the search."""

from store.config.configuration import Config
from store.search.query import access_scope

# the values of `search.setting` = seed
SEED = {"vectorWeight": 0.7, "textWeight": 0.3, "candidateMultiplier": 4, "halfLifeDays": 30, "lambda": 0.7}


class Settings:
    """The weights of the signals: with `plain` false those of `ranking.WEIGHTS`, as measured, and the numbers below are
    not used; with `plain` true the numbers of SEED or of the configuration."""

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
        """Return why this session may not search, or an empty text; see `access_scope.denied`."""
        return access_scope.denied(session, self._rules, self._default)
