"""What columns are usually called: for each field of an attempt, the names to look for, the most telling first."""

import re
from functools import lru_cache
from unicodedata import combining, normalize

from errata.text.lazy_regex import lazy_regex

_CAMEL = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BRACKETS = lazy_regex(r"(?:(?<!\s)\s++)?[(\[][^()\[\]]*+[)\]]\s*+$")
"""`Score (0-5)`."""
_OTHER = lazy_regex(r"[^a-z0-9]+")

_ITEM = (
    "task|case|question|problem|instance|sample|example|item|test|prompt|doc|document|record|query|scenario|exercise"
    "|puzzle|challenge|eval|frage|aufgabe"
)
NAMES: dict[str, tuple[str, ...]] = {
    "name": (
        rf"(?:{_ITEM})_?(?:case_?)?(?:id|key|slug|no|nr|number|num|idx|index|name|title)|qid|tid|task_hash",
        rf"id|uid|uuid|key|slug|{_ITEM}|name|title|testcase|test_case|nr",
        r".*_(?:id|key)|idx|index|no|number|num|q|row|line|unnamed_0|",
    ),
    "index": (
        r"(?:trial|attempt|repeat|repetition|rep|iteration|rollout|try|run|sample|generation|completion|seed|pass)"
        r"_?(?:id|no|nr|number|num|idx|index|i|n)",
        r"trial|attempt|repeat|repetition|rep|iteration|iter|rollout|try|epoch|run|versuch|k",
    ),
    "session": (r"session(?:_(?:id|no|number|name))?|batch(?:_id)?",),
    "input": (
        r"prompt(?:_text)?|question(?:_text)?|problem_statement|user_prompt|input(?:_text)?|query|instructions?|frage",
        r"problem|task_description|description|task_prompt|issue_title|issue_text|request|user_message|user_input|goal|task|text|scenario|stem",
    ),
    "expected": (
        r"gold(?:en)?(?:_(?:answer|label|output|patch))?|expected(?:_(?:answer|output|result|value|response))?"
        r"|ground_truths?|ref(?:erence)?(?:_(?:answer|output|solution|text))?|musterlosung|referenz|answer_key|correct_(?:answer|option|choice|label)"
        r"|(?:y_)?true(?:_(?:answer|label))?|truth|gt|ideal|erwartet",
        r"target|targets|label|labels|solution|references|canonical_solution|right_answer",
        r"answer|answers",
    ),
    "output": (
        r"(?:model_|raw_|full_|llm_|agent_|actual_|final_)?(?:output|response|completion|generation|reply)(?:_text|s)?"
        r"|(?:final|last|agent|assistant|model)_message"
        r"|generated(?:_(?:text|code|answer))?|prediction|predicted|model_answer|(?:model_)?patch|antwort",
        r"pred|preds|y_pred|predicted_answer|got|actual|answer|hypothesis|candidate|final_answer|submission|content|text|code",
    ),
    "answer": (
        r"(?:extracted|parsed|final|normali[sz]ed|short|model)_(?:answer|output|response|choice|prediction|result)"
        r"|extracted|parsed|answer_extracted",
        r"predicted_(?:answer|label|choice)|prediction|pred|choice|answer|selected|chosen",
    ),
    "messages": (
        r"messages|conversation|transcript|chat|dialog|dialogue|trajectory|history|trace|turns|chat_history|steps",
    ),
    "passed": (
        r"(?:is_|was_|did_|test_|tests_|all_)?(?:pass|passed|passes)|(?:is_|was_)?(?:resolved|solved)|bestanden",
        r"(?:is_|was_|answer_|answer_is_)?correct|richtig|korrekt|is_right|right",
        r"(?:is_|was_|task_)?(?:success|succeeded|successful)|accepted",
        r"verdict|outcome|result|grade|judg(?:e)?ment|evaluation|decision|ergebnis",
        r"(?:exact_)?match(?:es)?|is_match|em|acc|accuracy|pass_?(?:at_)?1|correctness",
        r"score|reward|points|ok|final_score|total_score",
        r"status|state|.*_status",
    ),
    "score": (
        r"score|final_score|total_score|overall_score|overall|reward|points|punkte",
        r"accuracy|acc|f1|f1_score|pass_rate|pass_?(?:at_)?\d+|similarity|rouge_?l?|bleu|exact_match|em|correctness"
        r"|average|avg|mean",
        r"rating|quality|grade|metric|value|.*_score",
    ),
    "error": (
        r"error(?:_(?:message|msg|text|info|detail|details|type))?|errors|exception|exc|traceback|err|fehler"
        r"|exception_(?:info|message)|error_?log|crash",
        r"failure|failure_(?:reason|message)|stack_trace|stacktrace",
    ),
    "scoring_error": (
        r"(?:scoring|scorer|judge|grader|grading|eval|evaluation|evaluator|verifier|metric|parse|parsing)_"
        r"(?:errors?|exceptions?|problems?|failures?|failure_reason)",
    ),
    "status": (
        r"status|state|exit_status|run_status|execution_status|end_state|termination(?:_reason)?|exit_reason",
        r"ended|end|exit|ended_by|exit_type|finish|finished",
    ),
    "stop_reason": (r"(?:finish|stop|stopping|end)_reasons?", r"finish|stop"),
    "judge_reasoning": (
        r"(?:judge|grader|grading|judg(?:e)?ment|verdict|score|scoring|evaluation|eval|llm)_"
        r"(?:reason|reasoning|rationale|explanation|comment|comments|feedback|notes|text|justification|critique|output)",
        r"rationale|justification|critique|feedback|explanation|reason|grading_notes",
    ),
    "started_at": (
        r"start(?:ed)?(?:_(?:at|time|ts|date))?|begin|begun|began(?:_at)?|datum|created(?:_at)?|timestamp|time|date|datetime|ts",
    ),
    "finished_at": (r"(?:end|ended|finish|finished|completed|done|stop|stopped)(?:_(?:at|time|ts))?",),
    "duration": (
        r"(?:total_|wall_?(?:clock_)?|elapsed_|response_|run_?|inference_|generation_|api_)?"
        r"(?:duration|latency|elapsed|runtime|took|time|walltime|dauer|seconds)"
        r"(?:_?(?:s|sec|secs|seconds|ms|msec|millis|milliseconds|us|ns|taken|elapsed|time))*"
        r"|wall(?:_clock)?_(?:s|sec|secs|ms)",
    ),
    "cost": (
        r"(?:total_|api_|est_|estimated_)?(?:cost|costs|price|spend|spent|kosten)(?:_(?:usd|dollars|eur|euros?|gbp|chf))?|usd|eur|cost_in_usd|dollars",
    ),
    "input_tokens": (
        r"(?:n_|num_|total_)?(?:input|prompt|in)_tok(?:en)?s?(?:_count|_used)?|tok(?:en)?s?_(?:in|input|prompt)|prompt_eval_count",
    ),
    "output_tokens": (
        r"(?:n_|num_|total_)?(?:output|completion|out|generated|response)_tok(?:en)?s?(?:_count|_used)?"
        r"|tok(?:en)?s?_(?:out|output|completion|generated)|eval_count",
    ),
    "total_tokens": (r"(?:n_|num_|total_)?tokens?(?:_(?:used|total|count))?|token_count|usage_total",),
    "cache_read_tokens": (r"cache_read(?:_input)?_tokens?|cached_(?:input_|prompt_)?tokens?",),
    "cache_write_tokens": (r"cache_(?:write|creation)(?:_input)?_tokens?",),
    "reasoning_tokens": (r"(?:reasoning|thinking|thought)_tokens?",),
    "exit_code": (r"(?:exit|return)_?code|returncode",),
    "seed": (r"(?:random_)?seed",),
    "model": (
        r"(?:model|llm)(?:_(?:name|id|slug|version|tag))?|engine|checkpoint|modell|subject_model|candidate_model"
        r"|model_name_or_path|full_?name|model_under_test|(?:tested|evaluated|eval|target)_model",
        r"system|deployment|solver_model|assistant|bot|policy",
    ),
    "provider": (r"provider|vendor|api_provider|backend",),
    "agent": (r"agent(?:_name)?|scaffold|harness|framework|solver",),
    "agent_version": (r"agent_version|scaffold_version",),
    "judge": (r"(?:judge|grader|evaluator)_(?:model|llm|name)|judge|grader",),
    "suite": (r"suite|benchmark(?:_name)?|dataset(?:_name)?|eval_name|bench|task_name|task_set",),
    "id": (r"run_?id|experiment_?id|job_?id|eval_?id|run_uuid",),
    "run_name": (r"run_?name|experiment(?:_name)?|job_?name",),
    "category": (
        r"categor(?:y|ies)|topic|subject|domain|subset|subcategory|task_type|question_type|type|kategorie|bereich|thema|collection|area|skill",
        r"group|split|section|subtask|task|language|lang|repo|repository|project|dataset|source|benchmark|class",
    ),
    "difficulty": (r"difficulty|level|hardness|schwierigkeit",),
    "tags": (r"tags|labels|keywords",),
    "choices": (r"choices|options|candidates|alternatives|answer_choices",),
    "variant": (
        r"variant|condition|setting|config(?:uration)?|prompt_(?:version|template|style|type|variant|name)|temperature|temp"
        r"|top_p|n?_?shots?|num_fewshot|mode|strategy|method|reasoning_effort|effort|thinking|quantization|precision|arm",
    ),
}

JUDGE = lazy_regex(r"(?:^|_)(?:judge[sd]?|judg(?:e)?ment|grader|autograder|rater|critic|g_?eval|rubric|llm)(?:_|$)")
MEASURE_GROUP = lazy_regex(
    r"(?:^|_)(?:scores?|metrics?|checks?|grades?|evals?|evaluations?|assertions?|criteria|rubrics?|results?|tests?"
    r"|verdicts?|ratings?|judge|judges|feedback)(?:_\d+)?$"
)
MEASURE = lazy_regex(
    r"(?:^|_)(?:score|rating|quality|f1|acc|accuracy|match|em|rouge\w*|bleu|similarity|correct|correctness|pass|passed|valid"
    r"|ok|relevance|helpfulness|faithfulness|coherence|fluency|toxicity|safety|style|format|compliance|grade|reward"
    r"|judge|grounded\w*|completeness|conciseness|tests?)(?:_|$|\d)"
)
COUNT = lazy_regex(
    r"(?:^|_)(?:n|num|number|no|count|counts|total|sum|passed|failed|skipped|errors?|passes|failures|tests?|cases|steps|turns"
    r"|tokens?|calls|retries|lines|chars|characters|words|sentences|items|files)(?:_|$)"
)
"""A whole number under such a name is a count, not a rating."""
NO_VERDICT = lazy_regex(
    r"(?:^|_)(?:valid|truncated|cached|flagged|has|timeout|timed|out|retry|retried|refus\w*|error\w*|exception|is_error"
    r"|enabled|stream\w*|tool\w*|multi\w*|hidden|public|private|gold|expected|skip\w*|hard|easy|in_progress)(?:_|$)"
)
MODEL_LIKE = lazy_regex(
    r"gpt|claude|llama|gemini|gemma|mistral|mixtral|qwen|deepseek|\bo[134](?:-|\b)|\bphi-?\d|command-?r|grok|sonnet|opus"
    r"|haiku|falcon|yi-\d|nova|kimi|glm|olmo|(?<!\d)\d++(?:\.\d++)?b\b|-instruct|-chat|model[_ -]?[a-z0-9]\b"
    r"|modell[_ -]",
    re.IGNORECASE,
)
HEADLINE = lazy_regex(
    r"(?:(?:overall|mean|total|final|avg|average|aggregate)_)?(?:accuracy|acc|pass_rate|success_rate|resolved_rate"
    r"|resolve_rate|score|pass_?(?:at_)?1|mean|average|avg|mean_score|average_score|overall|solve_rate|win_rate|quote|reward)"
)

STATUS_WORDS: dict[str, str] = {
    "error": r"err(?:or|ored)?|crash(?:ed)?|exception|.*_error|.*error|.*exception|infra\w*|failed_to_\w+|fehler",
    "limit": r"time_?d?_?out|.*time_?out.*|max_\w+"
    r"|(?!.*(?:usage|rate|quota)).*_?limit(?:_\w+|s)?|length|truncated|out_of_\w+"
    r"|budget\w*|context_\w+|exit_(?:cost|context)\w*",
    "cancelled": r"cancell?ed|abort(?:ed)?|interrupt(?:ed)?|killed|stopped_by_user",
    "skipped": r"skip(?:ped)?|excluded|ignored|not_applicable",
    "unfinished": r"running|pending|in_progress|queued|started|incomplete|unfinished|waiting",
    "missing": r"missing|not_run|no_result|not_found|absent",
    "completed": r"complete[d]?|done|finished|ok|success|succeeded|scored|graded|evaluated|submitted|fertig|stop"
    r"|end_turn",
}


def plain_name(path: str) -> str:
    """`runMeta.taskID` → `run_meta_task_id`."""
    path = path.replace("{model}", "").replace("{case}", "").replace("{attempt}", "")
    plain = _CAMEL.sub("_", path).lower()
    if not plain.isascii():  # `Lösung` as `losung`
        plain = "".join(sign for sign in normalize("NFKD", plain) if not combining(sign))
    return _OTHER.sub("_", plain).strip("_")


def last_name(path: str) -> str:
    """The same for the last part of a path; a column with `.` in its own name is one part."""
    return plain_name(path.lstrip("^$").rpartition(".")[2])


_COMPILED = {role: tuple(lazy_regex(pattern) for pattern in patterns) for role, patterns in NAMES.items()}


RUN_ROLES = frozenset(
    ("model", "provider", "agent", "agent_version", "judge", "suite", "id", "run_name", "variant", "category")
)
OUTER_ROLES = RUN_ROLES | {"name", "input", "expected", "difficulty", "tags", "choices", "messages", "session", "index"}
"""Fields whose column may be in an object around the rows; all others belong to the row."""


@lru_cache(maxsize=50_000)
def rank(role: str, path: str) -> int | None:
    """How telling the name of a column is for a field, 0 the most; None if it is not a name for it."""
    if (path[:1] == "$" and role not in RUN_ROLES) or (path[:1] == "^" and role not in OUTER_ROLES):
        return None
    if path[:1] == "@":
        return None
    names = dict.fromkeys((last_name(path), plain_name(path.lstrip("^$"))))
    names[plain_name(".".join(path.lstrip("^$").rsplit(".", 2)[-2:]))] = None
    if short := plain_name(_BRACKETS.sub("", path)):
        names[short] = None
    for at, pattern in enumerate(_COMPILED[role]):
        if any(map(pattern.fullmatch, names)):
            return at
    return None


def is_judges(path: str) -> bool:
    return JUDGE.search(plain_name(path)) is not None


def status_word(word: str) -> str:
    """The execution that a status word probably means; empty if unknown."""
    plain = plain_name(word)
    return next((name for name, pattern in STATUS_WORDS.items() if re.fullmatch(pattern, plain)), "")
