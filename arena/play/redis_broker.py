"""Redis as the broker: a worker notices that its connection is lost, whatever it still holds.

Kombu 5.7 leaves a message that could not be acknowledged with the worker. Once it holds as many as it may, it
no longer looks at its connection, and waits for ever without an error.
"""

from kombu.transport import redis, virtual


class QoS(redis.QoS):
    """Kombu's count of the messages that a worker holds, without those that it could not acknowledge.

    Redis delivers these again, which does no harm: a task looks at the database first.
    """

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message. Raise what Redis raises."""
        try:
            super().ack(delivery_tag)  # type: ignore[no-untyped-call]
        except BaseException:
            virtual.QoS.ack(self, delivery_tag)  # type: ignore[no-untyped-call]
            raise


def install() -> None:
    """Have workers of this process use it."""
    redis.Channel.QoS = QoS
