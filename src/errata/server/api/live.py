"""Live reporting: runners report runs, attempts, steps, checks and files while they go on. Every call needs a token."""

from errata.errors import ConflictError
from errata.model.live import (
    ArtefactsReport,
    AttemptsReport,
    ChecksReport,
    FinishReport,
    LiveAnswer,
    StartReport,
    StepsReport,
)
from errata.model.store_address import HEADER, PRODUCTION
from errata.server.exchange import Endpoint, Exchange
from errata.verbs.live import add_attempts, add_part, finish_live, start_live


def start_run(exchange: Exchange) -> LiveAnswer:
    refuse_other_deployment(exchange)
    report = exchange.record(StartReport)
    return _published(exchange, start_live(report, exchange.store, token=exchange.caller.name, now=exchange.now))


def report_attempts(exchange: Exchange) -> LiveAnswer:
    refuse_other_deployment(exchange)
    return _published(exchange, add_attempts(exchange.record(AttemptsReport), exchange.store, now=exchange.now))


def report_steps(exchange: Exchange) -> LiveAnswer:
    refuse_other_deployment(exchange)
    return _published(exchange, add_part(exchange.record(StepsReport), exchange.store, now=exchange.now))


def report_checks(exchange: Exchange) -> LiveAnswer:
    refuse_other_deployment(exchange)
    return _published(exchange, add_part(exchange.record(ChecksReport), exchange.store, now=exchange.now))


def report_artefacts(exchange: Exchange) -> LiveAnswer:
    refuse_other_deployment(exchange)
    return _published(exchange, add_part(exchange.record(ArtefactsReport), exchange.store, now=exchange.now))


def finish_run(exchange: Exchange) -> LiveAnswer:
    """Answers after the whole run can be seen."""
    refuse_other_deployment(exchange)
    answer = finish_live(exchange.record(FinishReport), exchange.store, now=exchange.now)
    if exchange.publisher is not None:
        exchange.publisher.publish_now(answer.run, exchange.store)
    return answer


def refuse_other_deployment(exchange: Exchange) -> None:
    """A report names the deployment it is for; one without a name never reaches production."""
    here, meant = exchange.server.deployment, exchange.headers.get(HEADER.lower(), "")
    if meant == here or (meant not in PRODUCTION and (not here or (not meant and here not in PRODUCTION))):
        return
    named = f"the deployment `{here}`" if here else "a server without a deployment"
    wanted = f"for `{meant}`" if meant else "for no deployment by name"
    hint = f"send `{HEADER}: {here}` if you mean it" if here else "check the address of the server"
    raise ConflictError(f"This is {named}; the report is {wanted}", hint=hint)


def _published(exchange: Exchange, answer: LiveAnswer) -> LiveAnswer:
    """It is stored already; it can be seen about a second later."""
    if exchange.publisher is not None and answer.accepted:
        exchange.publisher.publish_soon(answer.run)
    return answer


ENDPOINTS = (
    Endpoint(
        path="/api/live/runs",
        handler=start_run,
        method="POST",
        scope="report",
        takes=StartReport,
        gives=LiveAnswer,
        summary="Start a run, or go on with it.",
    ),
    Endpoint(
        path="/api/live/attempts",
        handler=report_attempts,
        method="POST",
        scope="report",
        takes=AttemptsReport,
        gives=LiveAnswer,
        summary="Report attempts, finished or going on.",
    ),
    Endpoint(
        path="/api/live/steps",
        handler=report_steps,
        method="POST",
        scope="report",
        takes=StepsReport,
        gives=LiveAnswer,
        summary="Add steps to an attempt.",
    ),
    Endpoint(
        path="/api/live/checks",
        handler=report_checks,
        method="POST",
        scope="report",
        takes=ChecksReport,
        gives=LiveAnswer,
        summary="Add checks to an attempt.",
    ),
    Endpoint(
        path="/api/live/artefacts",
        handler=report_artefacts,
        method="POST",
        scope="report",
        takes=ArtefactsReport,
        gives=LiveAnswer,
        summary="Add files to an attempt.",
    ),
    Endpoint(
        path="/api/live/finish",
        handler=finish_run,
        method="POST",
        scope="report",
        takes=FinishReport,
        gives=LiveAnswer,
        summary="Finish a run.",
    ),
)
