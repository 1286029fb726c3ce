"""A packet as a reviewer gets it."""

from errata.cli.output import put_json
from errata.cli.render import packet as packet_page
from errata.errors import NotFoundError
from errata.review.packet import PacketOptions
from errata.runs.show import ShownAttempt, ShownRun
from errata.verbs.review import packet_of
from errata.verbs.store import Store


def show_packet(shown: ShownRun | ShownAttempt, store: Store, *, form: str, raw: bool) -> None:
    """Redacted the way it would leave the machine."""
    if not isinstance(shown, ShownAttempt):
        hint = "name a case: `errata show RUN/CASE --packet`; `errata review export RUN` writes all"
        raise NotFoundError("A packet is about one failure, not about a run", hint=hint)
    packet = packet_of(shown.attempt.id, store, options=PacketOptions(raw=raw))
    if form == "text":
        packet_page.show_packet(packet)
    else:
        put_json(packet, raw=True)
