"""`errata demo`."""

import tempfile
from pathlib import Path

import click

from errata.cli.analyze import show_analysis
from errata.cli.options import Options, shared_options
from errata.cli.output import put, say
from errata.cli.serve import require_server
from errata.runs.log_search import look_for
from errata.settings import load_settings
from errata.text.shell import shell_word
from errata.verbs.analyze import analyze, import_logs
from errata.verbs.store import bundled_example, open_store, second_example


@click.command("demo")
@click.option("--serve", "in_browser", is_flag=True, help="Show the example, and a second run, in the browser.")
@click.option("--port", default=8731, show_default=True, help="Port for `--serve`; 0 takes any that is free.")
@shared_options
def command(in_browser: bool, port: int, options: Options) -> None:
    """Run `analyze` on a bundled example.

    Uses a temporary store, which is deleted afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="errata-demo-") as folder:
        path = Path(folder) / "errata.db"
        if in_browser:
            _serve(path, port)
            return
        example = bundled_example()
        say(f"errata analyze {shell_word(example)}\n")
        for view in analyze(look_for([example]), open_store(path)):
            show_analysis(view.summary, as_json=options.json, kept=False)
    say("\nSee it in the browser: errata demo --serve")
    say("For your own runs: errata analyze PATH")


def _serve(path: Path, port: int) -> None:
    require_server()
    from errata.server.exchange import ServerOptions
    from errata.server.serving import bound, serve

    store = open_store(path)
    import_logs([bundled_example(), second_example()], store)
    store.engine.dispose()
    listening = bound("127.0.0.1", port)
    put(f"http://127.0.0.1:{listening.getsockname()[1]}/")
    say("Ctrl-C ends the demo and deletes its store.")
    serve(load_settings(store=str(path)), listening, ServerOptions())
