"""Tasks for a model, one module each: the form of the answer, the prompt, the checks on the answer, and the rule used
in its place. A form is a dataclass, from which Pydantic makes the schema and with which it validates."""
