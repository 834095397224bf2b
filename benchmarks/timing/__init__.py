"""What the time of a pass gives away, and what asking every turn costs: ``python -m benchmarks.timing``.

A spying bot measures, over real sockets, how long its turns take to arrive, learns from finished deals how
that relates to forced passes, and estimates for every pass how likely it was forced. Which passes were really
forced is computed from the deal records. The spy also plays on what it learns; the same bot plays the same
deals without looking at the time. Referee and bots are processes of their own. ``--quick`` plays fewer deals.
"""
