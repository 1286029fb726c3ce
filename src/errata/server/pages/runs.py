"""`/`: which run needs me?"""

from errata.json_output.runs import run_outputs
from errata.model.output.runs import ListedRunOutput
from errata.render.blocks_html import page_text
from errata.server.endpoints import Endpoint
from errata.server.exchange import Exchange, Page
from errata.server.layout import link, table
from errata.server.pages.addresses import run_page


def runs(exchange: Exchange) -> Page:
    listed = list(run_outputs(exchange.store))
    body = _table(listed) if listed else _EMPTY
    return Page(title="Runs", section="runs", body=f"<h1>Runs</h1>{body}", command="errata runs")


def _table(listed: list[ListedRunOutput]) -> str:
    return table(
        ("Model", "Suite", "Failures#", "Attempts#", "Started"),
        (
            (
                link(run_page(run.run_id), run.model or run.run),
                page_text(run.suite),
                f"{run.counts.failures:,}",
                f"{run.counts.attempts:,}",
                page_text(run.started_at or "–"),
            )
            for run in listed
        ),
        label="Runs",
    )


_EMPTY = (
    "<p>No runs in this store yet.</p><p>Try the bundled example: <code>errata demo</code></p>"
    "<p>Read your own: <code>errata import PATH</code></p>"
)

ENDPOINTS = (Endpoint(path="/", handler=runs, summary="The runs in the store."),)
