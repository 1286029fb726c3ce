"""One trace, whichever file it stands in: MLflow 3 and 2 name its parts differently, and a table flattens them."""

from typing import Any

from errata.model import SourceRef
from errata.sources.base import Row
from errata.sources.mlflow.values import decoded
from errata.sources.shared.values import mapping, sequence, text

_COLUMNS = ("trace", "trace_id", "state", "request_time", "execution_duration", "request", "response", "trace_metadata",
            "tags", "spans", "assessments", "client_request_id")  # fmt: skip
SOURCE_RUN = "mlflow.sourceRun"


class Trace:
    def __init__(self, row: Row) -> None:
        data = row.data
        if not isinstance(data, dict):
            raise ValueError("an object expected")
        self.ref = row.ref
        if isinstance(data.get("info"), dict):
            self.info, self.columns = data["info"], {}
            self.spans = sequence(mapping(data.get("data")).get("spans"))
            self.spans_ref = row.ref.below("data", "spans")
            self.ref_of_info = row.ref.below("info")
        else:
            self.columns = {str(key): value for key, value in data.items() if key not in _COLUMNS}
            whole = mapping(decoded(data.get("trace")))
            told = {key: data[key] for key in _COLUMNS if data.get(key) is not None}
            # the table has these milliseconds under the name that a text has in a trace
            told |= {"execution_duration_ms": told.pop("execution_duration", None)}
            self.info = mapping(whole.get("info")) | {key: value for key, value in told.items() if value is not None}
            self.spans = sequence(data.get("spans")) or sequence(mapping(whole.get("data")).get("spans"))
            self.spans_ref = row.ref.below("spans")
            self.ref_of_info = row.ref
        self.id = text(self.get("trace_id", "request_id"))
        if not self.id:
            raise ValueError("a trace without an id")

    def get(self, *names: str) -> Any:
        return next((self.info[name] for name in names if self.info.get(name) is not None), None)

    @property
    def metadata(self) -> dict[str, Any]:
        return mapping(self.get("trace_metadata", "request_metadata"))

    @property
    def run(self) -> str:
        return text(self.metadata.get(SOURCE_RUN)) or text(mapping(self.info.get("tags")).get(SOURCE_RUN))

    @property
    def experiment(self) -> str:
        location = mapping(mapping(self.info.get("trace_location")).get("mlflow_experiment"))
        return text(location.get("experiment_id")) or text(self.info.get("experiment_id"))

    @property
    def native_run(self) -> str:
        """Traces that no run recorded are told apart by their experiment."""
        return self.run or f"experiment-{self.experiment or 'unknown'}"

    @property
    def name(self) -> str:
        return text(mapping(self.info.get("tags")).get("mlflow.traceName"))

    @property
    def state(self) -> str:
        return text(self.get("state", "status"))

    @property
    def assessments(self) -> list[tuple[dict[str, Any], SourceRef]]:
        listed = self.info.get("assessments")
        if not isinstance(listed, list):
            return list(self._of_columns())
        return [(mapping(one), self.ref_of_info.below("assessments", at)) for at, one in enumerate(listed)]

    def _of_columns(self) -> Any:
        """Tables that have only the values: a column for each scorer, and others for its words and its error."""
        for column, value in self.columns.items():
            name, slash, what = column.rpartition("/")
            if slash and what == "value":
                broken = text(self.columns.get(f"{name}/error_message"))
                error = {"error_message": broken} if broken else None
                yield (
                    {
                        "assessment_name": name,
                        "feedback": {"value": value, "error": error},
                        "rationale": self.columns.get(f"{name}/rationale"),
                    },
                    self.ref.below(column),
                )
