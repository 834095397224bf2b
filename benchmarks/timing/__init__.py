"""What the time of a pass gives away, and what asking every turn costs: ``python -m benchmarks.timing``.

A spying bot times, over real sockets, how long its turns are in coming, learns from finished deals how that
goes with forced passes, and says of every pass how likely it was forced. What was so is worked out from the
deal records. It also plays on what it learns; the same bot plays the same deals without looking at the time.
Referee and bots are processes of their own. ``--quick`` plays fewer deals.
"""
