-- SPDX-License-Identifier: Apache-2.0
-- What the questions are asked of, over log as duckdb.sql or spark.sql makes it. The same for both.

-- A row a log. image: what processes have in common that should get the same cuDNN; change it to what
-- your images are told by.
CREATE OR REPLACE TEMPORARY VIEW process AS
SELECT
    file, node, started, ended, executable, container, operating_system, environment,
    concat_ws(' ', container, operating_system, environment) AS image
FROM (
    SELECT
        file,
        max(CASE WHEN kind = 'process' THEN node END) AS node,
        min(moment) AS started,
        max(moment) AS ended,
        max(CASE WHEN kind = 'process' THEN executable END) AS executable,
        max(CASE WHEN kind = 'machine' THEN container END) AS container,
        max(CASE WHEN kind = 'machine' THEN operating_system END) AS operating_system,
        max(CASE WHEN kind = 'process' THEN coalesce(
            nullif(regexp_extract(variables, '(^|\n)VIRTUAL_ENV=([^\n]*)', 2), ''),
            nullif(regexp_extract(variables, '(^|\n)CONDA_PREFIX=([^\n]*)', 2), ''),
            executable) END) AS environment
    FROM log
    GROUP BY file
) AS one;

-- Each library at its newest record, those that were unloaded again left out. Of logs of version 4 (docs/log.md).
CREATE OR REPLACE TEMPORARY VIEW library AS
SELECT
    file, role, framework, coalesce(real_path, path) AS path,
    installation_kind,
    concat_ws(' ', installation, installation_version) AS installation,
    coalesce(nullif(regexp_extract(version, '^[0-9]+([.][0-9]+){0,2}', 0), ''), 'unknown') AS release,
    lpad(split_part(version, '.', 1), 4, '0') || lpad(split_part(version, '.', 2), 4, '0')
        || lpad(split_part(version, '.', 3), 4, '0') AS release_key,
    lpad(split_part(installation_version, '.', 1), 4, '0') || lpad(split_part(installation_version, '.', 2), 4, '0')
        || lpad(split_part(installation_version, '.', 3), 4, '0') AS installation_key
FROM (SELECT *, row_number() OVER (PARTITION BY file, object ORDER BY seq DESC) AS age FROM log WHERE kind = 'object')
    AS told
WHERE age = 1 AND mapped;

-- The cuDNN that a process got; a row for each, should it have two.
CREATE OR REPLACE TEMPORARY VIEW got AS
SELECT
    process.*, library.path, library.release, library.release_key, library.installation_kind, library.installation
FROM process JOIN library ON library.file = process.file
WHERE library.role = 'facade';

-- Its findings: those that its end still names, and where it has none, those that no later one replaced.
CREATE OR REPLACE TEMPORARY VIEW finding AS
SELECT DISTINCT told.file, told.id, told.severity
FROM (SELECT * FROM log WHERE kind = 'finding') AS told
LEFT JOIN (SELECT file, findings FROM log WHERE kind = 'summary') AS last ON last.file = told.file
LEFT JOIN (SELECT file, supersedes FROM log WHERE kind = 'finding') AS later
    ON later.file = told.file AND later.supersedes = told.seq
WHERE later.file IS NULL AND (last.file IS NULL OR array_contains(last.findings, told.id));

-- Releases of cuDNN with a documented defect, and the framework in whose releases it shows.
CREATE OR REPLACE TEMPORARY VIEW bad_release AS
SELECT * FROM (VALUES
    -- bad releases: begin (make schema)
    ('9.10.0', 'It numbers data types in another order than all other releases: programs that were built with another 9.x and use block-scaled types get wrong ones.', '000900100000', '000900100001', NULL, NULL, NULL, NULL),
    ('9 to 9.15', 'Conv3d of PyTorch 2.9 is slow with it and takes many times the memory; servers such as SGLang refuse to start.', '000900000000', '000900150000', 'torch 2.9 to 2.10', 'torch', '000200090000', '000200100000')
    -- bad releases: end
) AS known (releases, defect, at_least, below, shows_in, framework, framework_at_least, framework_below);
