-- SPDX-License-Identifier: Apache-2.0
-- A directory of logs in DuckDB (1.3 or newer): what the questions ask of it, read once, into the table log.
--   cat duckdb.sql views.sql which-nodes.sql | duckdb -cmd "SET VARIABLE logs = '/srv/logs/**/whichcudnn-*.jsonl*'"
-- read_json with these columns gives the same, and takes ten times as long over 10,000 files.
CREATE OR REPLACE TEMPORARY TABLE log AS
WITH line AS (
    SELECT filename, unnest(from_json(json,
    -- columns: begin (make schema)
    '{
    "v": "BIGINT", "kind": "VARCHAR", "time": "BIGINT", "seq": "BIGINT", "pid": "BIGINT",
    "tid": "BIGINT", "cut": "BIGINT", "node": "VARCHAR", "start_ticks": "BIGINT", "parent_pid": "BIGINT",
    "parent_name": "VARCHAR", "parent_log": "VARCHAR", "forked": "BOOLEAN", "executable": "VARCHAR",
    "arguments": ["VARCHAR"], "directory": "VARCHAR", "environment": ["VARCHAR"],
    "shim_version": "VARCHAR", "shim_path": "VARCHAR", "eager": "BOOLEAN", "run_pid": "BIGINT",
    "kernel": "VARCHAR", "architecture": "VARCHAR", "operating_system": "VARCHAR", "glibc": "VARCHAR",
    "container": "VARCHAR", "driver": "VARCHAR", "gpu_devices": "BIGINT", "gpus": ["VARCHAR"],
    "device_fault": "VARCHAR", "request": "BIGINT", "operation": "VARCHAR", "name": "VARCHAR",
    "flags": "BIGINT", "caller": "VARCHAR", "caller_object": "BIGINT", "function": "VARCHAR",
    "text": "VARCHAR", "inferred": "BOOLEAN", "priority": "VARCHAR", "search": "BIGINT",
    "object": "BIGINT", "rule": "VARCHAR", "element": "VARCHAR", "index": "BIGINT", "of": "VARCHAR",
    "takes": "VARCHAR", "later_path": "VARCHAR", "later_takes": "VARCHAR", "searched": ["VARCHAR"],
    "path": "VARCHAR", "real_path": "VARCHAR", "beaten": "BOOLEAN", "file_state": "VARCHAR",
    "soname": "VARCHAR", "version": "VARCHAR", "version_source": "VARCHAR",
    "installation_kind": "VARCHAR", "installation": "VARCHAR", "installation_version": "VARCHAR",
    "installation_path": "VARCHAR", "link": "VARCHAR", "fault": "VARCHAR", "content": "VARCHAR",
    "size": "BIGINT", "needs": "BIGINT", "role": "VARCHAR", "is_host": "BOOLEAN", "part": "VARCHAR",
    "mapped": "BOOLEAN", "asked_name": "VARCHAR", "symbol_version": "VARCHAR", "device": "BIGINT",
    "inode": "BIGINT", "mtime": "BIGINT", "build_id": "VARCHAR", "base": "VARCHAR",
    "needed": ["VARCHAR"], "rpath": "VARCHAR", "runpath": "VARCHAR", "version_floor": "VARCHAR",
    "version_ceiling": "VARCHAR", "header_version": "VARCHAR", "mount": "VARCHAR", "asked_by": "VARCHAR",
    "asked_by_object": "BIGINT", "asked_how": "VARCHAR", "framework": "VARCHAR",
    "gpu_library": "VARCHAR", "required_by": "VARCHAR", "candidates": ["VARCHAR"], "package": "VARCHAR",
    "package_version": "VARCHAR", "prefix": "VARCHAR", "list": "VARCHAR", "package_state": "VARCHAR",
    "file_count": "BIGINT", "missing_count": "BIGINT", "missing": ["VARCHAR"], "changed": ["VARCHAR"],
    "foreign": ["VARCHAR"], "shared_with": ["VARCHAR"], "host": "BIGINT", "host_path": "VARCHAR",
    "demand_kind": "VARCHAR", "spec": "VARCHAR", "built": "VARCHAR", "compatibility_rule": "VARCHAR",
    "framework_version": "VARCHAR", "source": "VARCHAR", "source_path": "VARCHAR",
    "function_count": "BIGINT", "newest_functions": ["VARCHAR"], "target": "BIGINT",
    "target_path": "VARCHAR", "how": "VARCHAR", "functions": ["VARCHAR"], "wrapped": "BIGINT",
    "phase": "VARCHAR", "status": "BIGINT", "status_name": "VARCHAR", "returned_version": "BIGINT",
    "id": "VARCHAR", "severity": "VARCHAR", "title": "VARCHAR",
    "facts": [{"name": "VARCHAR", "value": "VARCHAR", "source": "VARCHAR"}], "predicted": "BOOLEAN",
    "explained_by": "VARCHAR", "supersedes": "BIGINT", "what": "VARCHAR", "why": "VARCHAR",
    "first_finding": "VARCHAR", "findings": ["VARCHAR"], "fingerprint": "VARCHAR",
    "later_environment": ["VARCHAR"], "requests": "BIGINT", "calls": "BIGINT", "dropped": "BIGINT",
    "repeated_requests": "BIGINT", "repeated_failures": "BIGINT", "ending": "VARCHAR", "child": "BIGINT",
    "exit_status": "BIGINT", "signal": "BIGINT", "signal_name": "VARCHAR", "during": "VARCHAR",
    "during_seq": "BIGINT", "observed": "BOOLEAN", "reason": "VARCHAR", "words_read": "BOOLEAN",
    "printed": ["VARCHAR"], "log_file": "VARCHAR"
    }'
    -- columns: end
    ))
    FROM read_ndjson_objects(getvariable('logs'), filename = true,
        ignore_errors = true) -- the last line of a process that was killed
    WHERE json ->> 'kind' IN ('process', 'machine', 'object', 'finding', 'summary')
)
SELECT
    regexp_extract(coalesce(log_file, filename), '[^/]*[.]jsonl', 0) AS file,
    CAST(make_timestamp(time) AS TIMESTAMP) AS moment,
    array_to_string(environment, chr(10)) AS variables,
    kind, seq, node, executable, container, operating_system, object, role, mapped, framework, path, real_path, version,
    installation_kind, installation, installation_version, id, severity, supersedes, findings
FROM line;
