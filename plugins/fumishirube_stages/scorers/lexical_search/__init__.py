"""The terms of a query, and the candidates and scores by them."""
