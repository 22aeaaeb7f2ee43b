"""Few coordinates for a link: Craig-Bampton, Guyan, free-interface and modal reduction, dense or sparse."""
