"""What a model is asked for, a module each: the form of its answer, what it is told, what of its answer holds, and the
rule that answers in its place. A form is a dataclass, which Pydantic describes and validates when a model is asked."""
