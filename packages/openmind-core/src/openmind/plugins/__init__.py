"""How packages plug into OpenMind: the hooks, the registries they fill, the manager that loads them."""
