"""The pure functions of competition: formats, pairing, seating, ranking, ratings, and what an export says.

They know no storage, no network and no clock.
"""
