"""The search of texts for regular expressions, in processes that can be ended."""
