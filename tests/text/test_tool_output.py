"""The informative line of what bun, convex, tsc, eslint and vitest print, below the header of a runner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.text.tool_output import find_key_line, key_line

CODEGEN = "✖ No CONVEX_DEPLOYMENT set, run `npx convex dev` to configure a Convex project\n"


NO_CONFIG = "error TS5057: Cannot find a tsconfig.json file at the specified directory"


def deploy(output, codegen=CODEGEN):
    return f"Error: Failed to deploy:\nInitial codegen (exit 1):\n{codegen or '(no output)'}\nconvex dev:\n{output}"


SCHEMA = deploy(
    "- Preparing Convex functions...\n\n✖ Error: Unable to start push to http://localhost:3214\n"
    "✖ Error fetching POST  http://localhost:3214/api/deploy2/start_push 400 Bad Request: "
    'IndexNameReserved: In table "visits" the index "by_creation_time" is reserved\n'
)
MODULES = deploy(
    "✖ Error: Unable to start push to http://localhost:3214\n✖ Error fetching POST  http://localhost:3214/api/deploy2/"
    "start_push 400 Bad Request: InvalidModules: Hit an error while pushing:\n"
    "Loading the pushed modules encountered the following error:\n"
    "Failed to analyze crons.js: Uncaught Error: Minute must be between 0 and 59\n"
    "    at <anonymous> (../convex/crons.ts:6:7)\n"
)
BUNDLE = deploy(
    '✘ [ERROR] Could not resolve "./validators/contact"\n\n    convex/contacts.ts:3:24:\n'
    '      3 │ import { contact } from "./validators/contact";\n        ╵                         ~~~~\n\n'
    "✖ Unable to bundle Convex functions\n",
    codegen="",
)
TYPES = deploy(
    "✖ TypeScript typecheck via `tsc` failed.\nTo ignore failing typecheck, use `--typecheck=disable`.\n"
    "convex/tasks.ts:14:7 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n14       done: \"no\",\n"
)
TSC = (
    "Error: Failed to typecheck code:\nconvex/messages.ts(8,3): error TS2322: Type 'A' is not assignable to type 'B'.\n"
    "  Types of property 'page' are incompatible.\n"
    "convex/messages.ts(9,3): error TS2339: Property 'x' does not exist.\n"
)
LINT = (
    "Error: Failed to lint code:\n\n/tmp/eval/output/acme/m/000-a/002-b/convex/http.ts\n"
    "   9:30  error  'ctx' is defined but never used  @typescript-eslint/no-unused-vars\n"
    "   9:35  warning  Unexpected console statement  no-console\n\n✖ 2 problems (1 error, 1 warning)\n"
)
INSTALL = (
    "Error: Failed to install dependencies:\nbun install v1.2.21 (7c45ed97)\nResolving dependencies\n"
    'error: No version matching "^99" found for specifier "convex" (but package exists)\n'
    "error: convex@^99 failed to resolve\n"
)
TESTS = (
    "Error: Tests failed (ratio: 0.67)\n RUN  v3.2.4 /runner\n\nstderr | grader.test.ts > keeps other pets\n"
    "Error: probe: expected and caught\n\n ❯ grader.test.ts (3 tests | 1 failed) 812ms\n"
    "   × includes both bounds 231ms\n"
    "     → expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]\n\n⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯\n\n"
    " FAIL  grader.test.ts > includes both bounds\n"
    "AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]\n\n"
    "- Expected\n+ Received\n"
)


SERVER = (
    "Error: Tests failed (ratio: 0.67)\n FAIL  grader.test.ts > sweeps\n"
    "Error: [Request ID: 51e0cf2d] Server Error\nUncaught Error: Too many documents read\n"
)
DOCUMENT = (
    "Error: Failed to deploy:\nconvex dev:\n- Schema validation: 1 document(s) checked\n"
    '✖ Schema validation failed.\nDocument "k5" in table "people" does not match the schema.\n'
)
WRAPPED = deploy(
    "Preparing Convex functions...\n\nUploading functions to Convex...\n"
    "✖ Error fetching POST  http://localhost:3214/api/deploy2/start_push 400 Bad Request: InvalidModules: Hit an error "
    "while pushing:\nLoading the pushed modules encountered the following\n    error:\n"
    "`list` defined in `a.js` is a Query function. Only actions can be defined in Node.js.\n"
)
UNSET = deploy(
    "✖ Environment variable ISSUER is used but its value was not set.\n    Go to:\n\n    http://localhost/\n"
)
FUNCTION = (
    "Error: Tests failed (ratio: 0.5)\n FAIL  grader.test.ts > joins\n"
    "Error: [CONVEX Q(posts:feed)] [Request ID: 5e1c8bb0] Server Error\nUncaught TypeError: Cannot read properties\n"
)
SENTENCE = (
    "Error: Tests failed (ratio: 0.5)\n FAIL  grader.test.ts > counts\n"
    "Error: [CONVEX M(carts:out)] [Request ID: 5e1c8bb0] Server Error\n"
    "Could not find public function for 'carts:out'.\n"
)
CRASH = (
    "Error: Failed to lint code:\n\nOops! Something went wrong! :(\n\nESLint: 9.36.0\n\n"
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from eslint.config.mjs\n"
    "    at packageResolve (node:internal/modules/esm/resolve:768:81)\n"
)


@pytest.mark.req("C-10")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SCHEMA, 'IndexNameReserved: In table "visits" the index "by_creation_time" is reserved'),
        (MODULES, "Failed to analyze crons.js: Uncaught Error: Minute must be between 0 and 59"),
        (BUNDLE, 'Could not resolve "./validators/contact"'),
        (TYPES, "convex/tasks.ts:14:7 - error TS2322: Type 'string' is not assignable to type 'number'."),
        (TSC, "convex/messages.ts(8,3): error TS2322: Type 'A' is not assignable to type 'B'."),
        (LINT, "9:30 error 'ctx' is defined but never used @typescript-eslint/no-unused-vars"),
        (INSTALL, 'error: No version matching "^99" found for specifier "convex" (but package exists)'),
        (TESTS, "AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]"),
        (f"Error: Failed to typecheck code:\n{NO_CONFIG}", NO_CONFIG),
        (SERVER, "Uncaught Error: Too many documents read"),
        (SENTENCE, "Could not find public function for 'carts:out'."),
        (DOCUMENT, 'Document "k5" in table "people" does not match the schema.'),
        (WRAPPED, "`list` defined in `a.js` is a Query function. Only actions can be defined in Node.js."),
        (UNSET, "Environment variable ISSUER is used but its value was not set."),
        (FUNCTION, "Uncaught TypeError: Cannot read properties"),
        (CRASH, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from eslint.config.mjs"),
    ],
    ids=[
        "schema", "modules", "bundle", "types", "tsc", "lint", "install", "tests", "tsconfig", "server", "sentence",
        "document", "wrapped", "unset", "function", "crash",
    ],
)  # fmt: skip
def test_the_line_below_the_header_that_names_the_error(text, line):
    assert key_line(text) == line


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (MODULES, ("../convex/crons.ts", 6)),
        (BUNDLE, ("convex/contacts.ts", 3)),
        (TSC, ("convex/messages.ts", 8)),
        (LINT, ("/tmp/eval/output/acme/m/000-a/002-b/convex/http.ts", 9)),
        (SCHEMA, ("", 0)),
    ],
    ids=["modules", "bundle", "tsc", "lint", "schema"],
)
def test_the_place_that_the_error_is_about(text, place):
    found = find_key_line(text)

    assert found is not None
    assert (found.file, found.line) == place


def test_what_codegen_prints_without_a_deployment_is_no_reason():
    assert "CONVEX_DEPLOYMENT" not in key_line(deploy("(no output)"))


def test_what_codegen_prints_is_the_reason_where_the_deployment_itself_printed_nothing():
    component = "✖ Could not load convex.config.ts: component `mail` is not installed\n"

    assert key_line(deploy("(no output)", codegen=component)) == component.removeprefix("✖ ").strip()


@pytest.mark.parametrize(
    "text",
    [
        "The answer has problems:\n- it does not call the tool\n- it is short",
        "not met: send_certificate\nbook_reservation",
        "The reply is fine.\nError: none\nScore: 3",
    ],
)
def test_the_words_of_a_judge_are_no_output_of_a_tool(text):
    assert find_key_line(text) is None
    assert key_line(text) == " ".join(text.split())


@given(
    st.sampled_from([SCHEMA, MODULES, BUNDLE, TYPES, TSC, LINT, INSTALL, TESTS]),
    st.sampled_from(["\x1b[31m", "\x1b[1;35m"]),
)
def test_colours_change_nothing(text, colour):
    coloured = "\n".join(f"{colour}{line}\x1b[0m" for line in text.split("\n"))

    assert key_line(coloured) == key_line(text)
