"""What the parts of this source share."""

NAME = "otlp"
HEAD = 64 * 1024
EVALUATION = "gen_ai.evaluation.result"
EXCEPTION = "exception"
