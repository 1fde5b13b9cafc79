"""A question → an answer whose every citation was checked: extractive, read by a language model, or by the planning agent.

Enters: a store, a question, a scope, the minds that are configured. Leaves: an `Answer`, its sentences as each has passed the
check. All answerers share one check (`citations`, `closed_set`, `numbers`). Writes nothing; does not know terminals or HTTP.
"""
