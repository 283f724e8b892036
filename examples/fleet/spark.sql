-- SPDX-License-Identifier: Apache-2.0
-- A directory of logs in Apache Spark (3.5 or newer): line has every key, log what the questions ask, read once.
--   cat spark.sql views.sql which-nodes.sql >question.sql
--   spark-sql --master spark://HOST:7077 --hivevar logs=/srv/logs -f question.sql --conf spark.sql.session.timeZone=UTC \
--       --conf spark.sql.files.openCostInBytes=65536 --conf spark.sql.catalogImplementation=in-memory
-- (Logs are small: so some hundred make a task. And without a catalogue nothing is left behind.)
CREATE OR REPLACE TEMPORARY VIEW line (
    -- columns: begin (make schema)
    `v` BIGINT, `kind` STRING, `time` BIGINT, `seq` BIGINT, `pid` BIGINT, `tid` BIGINT, `cut` BIGINT,
    `node` STRING, `start_ticks` BIGINT, `parent_pid` BIGINT, `parent_name` STRING, `parent_log` STRING,
    `forked` BOOLEAN, `executable` STRING, `arguments` ARRAY<STRING>, `directory` STRING,
    `environment` ARRAY<STRING>, `shim_version` STRING, `shim_path` STRING, `eager` BOOLEAN,
    `run_pid` BIGINT, `kernel` STRING, `architecture` STRING, `operating_system` STRING, `glibc` STRING,
    `container` STRING, `driver` STRING, `gpu_devices` BIGINT, `gpus` ARRAY<STRING>,
    `device_fault` STRING, `request` BIGINT, `operation` STRING, `name` STRING, `flags` BIGINT,
    `caller` STRING, `caller_object` BIGINT, `function` STRING, `text` STRING, `inferred` BOOLEAN,
    `priority` STRING, `search` BIGINT, `object` BIGINT, `rule` STRING, `element` STRING, `index` BIGINT,
    `of` STRING, `takes` STRING, `later_path` STRING, `later_takes` STRING, `searched` ARRAY<STRING>,
    `path` STRING, `real_path` STRING, `beaten` BOOLEAN, `file_state` STRING, `soname` STRING,
    `version` STRING, `version_source` STRING, `installation_kind` STRING, `installation` STRING,
    `installation_version` STRING, `installation_path` STRING, `link` STRING, `fault` STRING,
    `content` STRING, `size` BIGINT, `needs` BIGINT, `role` STRING, `is_host` BOOLEAN, `part` STRING,
    `mapped` BOOLEAN, `asked_name` STRING, `symbol_version` STRING, `device` BIGINT, `inode` BIGINT,
    `mtime` BIGINT, `build_id` STRING, `base` STRING, `needed` ARRAY<STRING>, `rpath` STRING,
    `runpath` STRING, `version_floor` STRING, `version_ceiling` STRING, `header_version` STRING,
    `mount` STRING, `asked_by` STRING, `asked_by_object` BIGINT, `asked_how` STRING, `framework` STRING,
    `gpu_library` STRING, `required_by` STRING, `candidates` ARRAY<STRING>, `package` STRING,
    `package_version` STRING, `prefix` STRING, `list` STRING, `package_state` STRING,
    `file_count` BIGINT, `missing_count` BIGINT, `missing` ARRAY<STRING>, `changed` ARRAY<STRING>,
    `foreign` ARRAY<STRING>, `shared_with` ARRAY<STRING>, `host` BIGINT, `host_path` STRING,
    `demand_kind` STRING, `spec` STRING, `built` STRING, `compatibility_rule` STRING,
    `framework_version` STRING, `source` STRING, `source_path` STRING, `function_count` BIGINT,
    `newest_functions` ARRAY<STRING>, `target` BIGINT, `target_path` STRING, `how` STRING,
    `functions` ARRAY<STRING>, `wrapped` BIGINT, `phase` STRING, `status` BIGINT, `status_name` STRING,
    `returned_version` BIGINT, `id` STRING, `severity` STRING, `title` STRING,
    `facts` ARRAY<STRUCT<name: STRING, value: STRING, source: STRING>>, `predicted` BOOLEAN,
    `explained_by` STRING, `supersedes` BIGINT, `what` STRING, `why` STRING, `first_finding` STRING,
    `findings` ARRAY<STRING>, `fingerprint` STRING, `later_environment` ARRAY<STRING>, `requests` BIGINT,
    `calls` BIGINT, `dropped` BIGINT, `repeated_requests` BIGINT, `repeated_failures` BIGINT,
    `ending` STRING, `child` BIGINT, `exit_status` BIGINT, `signal` BIGINT, `signal_name` STRING,
    `during` STRING, `during_seq` BIGINT, `observed` BOOLEAN, `reason` STRING, `words_read` BOOLEAN,
    `printed` ARRAY<STRING>, `log_file` STRING
    -- columns: end
    )
USING json OPTIONS (
    path '${logs}',
    recursiveFileLookup 'true', -- without it each directory is listed by itself
    pathGlobFilter 'whichcudnn-*.jsonl*',
    mode 'DROPMALFORMED' -- the last line of a process that was killed
);

CREATE OR REPLACE TEMPORARY VIEW log AS
SELECT
    regexp_extract(coalesce(log_file, filename), '[^/]*[.]jsonl', 0) AS file,
    timestamp_micros(time) AS moment,
    array_join(environment, chr(10)) AS variables,
    kind, seq, node, executable, container, operating_system, object, role, mapped, framework, path, real_path, version,
    installation_kind, installation, installation_version, id, severity, supersedes, findings
FROM (SELECT *, input_file_name() AS filename FROM line) AS named
WHERE kind IN ('process', 'machine', 'object', 'finding', 'summary');

CACHE TABLE log;
