"""The version of the product, for what is below `store` itself."""

__version__ = "0.1.0"
