"""What a model is asked for, a module each: the form of its answer, what it is told, what of its answer holds, and the
rule that answers in its place. They import the model's parts, so whoever has no model imports none of them."""
